import { defineConfig } from 'vitest/config';
import { gzipBase64, singleFile } from './vite.plugins.ts';

export default defineConfig({
  plugins: [gzipBase64(), singleFile()],
  worker: { plugins: () => [gzipBase64()] },
  build: {
    target: 'es2022',
    outDir: 'dist',
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    reportCompressedSize: false,
    rolldownOptions: { output: { format: 'iife' } },
  },
  test: { include: ['src/**/*.test.ts'] },
});
