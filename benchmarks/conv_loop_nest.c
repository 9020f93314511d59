// The convolution's loop nest written by hand, to hold the generated one against:
// out[n,o,y,x] = sum(c,ky,kx) in[n,c,y+ky-1,x+kx-1] * w[o,c,ky,kx], 64 images of 32x28x28, 64 filters.
// Lanes over the output channels, 14 pixels at a time; weights copied as [c,ky,kx][o], each image with its border.
typedef float vec __attribute__((vector_size(LANES * 4), aligned(4)));
enum { C = 32, O = 64, H = 28, W = 28, XT = 14 };

void conv(float* restrict out, const float* restrict in, const float* restrict w, int start, int stop) {
  static __thread float image[C * (H + 2) * (W + 2)] __attribute__((aligned(64)));
  static __thread float weight[C * 9 * O] __attribute__((aligned(64)));
  for (int o = 0; o < O; o++)
    for (int k = 0; k < C * 9; k++) weight[k * O + o] = w[o * C * 9 + k];
  for (int n = start; n < stop; n++) {
    for (int c = 0; c < C; c++)
      for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
          image[(c * (H + 2) + y) * (W + 2) + x] =
              (y > 0 && y <= H && x > 0 && x <= W) ? in[((n * C + c) * H + y - 1) * W + x - 1] : 0;
    for (int o = 0; o < O; o += LANES)
      for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x += XT) {
          vec acc[XT] = {0};
          for (int c = 0; c < C; c++)
            for (int ky = 0; ky < 3; ky++)
              for (int kx = 0; kx < 3; kx++) {
                vec b = *(vec*)(weight + ((c * 3 + ky) * 3 + kx) * O + o);
                const float* a = image + (c * (H + 2) + y + ky) * (W + 2) + x + kx;
                for (int t = 0; t < XT; t++) acc[t] += a[t] * b;
              }
          for (int l = 0; l < LANES; l++)
            for (int t = 0; t < XT; t++) out[((n * O + o + l) * H + y) * W + x + t] = acc[t][l];
        }
  }
}

void conv_entry(void** bufs, const long long* vals, int start, int stop) {
  conv(bufs[0], bufs[1], bufs[2], start, stop);
}
