// `make check-corpus CORPUS=DIR`: files that the tree may not hold, converted and compared.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/corpus/**/*.check.ts'], testTimeout: 300_000, pool: 'forks', maxWorkers: 2 },
});
