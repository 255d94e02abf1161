import { defineConfig } from 'vitest/config';
import { gzipText, singleFile } from './vite.plugins.ts';

export default defineConfig({
  plugins: [gzipText(), singleFile()],
  worker: { plugins: () => [gzipText()] },
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
