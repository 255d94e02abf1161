import { defineConfig } from 'vitest/config';
import { gzipText } from './vite.plugins.ts';

export default defineConfig({
  plugins: [gzipText()],
  test: {
    include: ['**/*.test.ts'],
    globalSetup: ['tests/browser/launch.ts'],
    // Nothing here is about time: a busy machine may take as long as it needs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    maxWorkers: 2,
  },
});
