// held-service.mjs CONFIG: the service with lanes that never get a job done, so that submissions alone are measured.
import { loadConfig, startService } from '../dist/app.js';

const converter = {
  run: (_task, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
};
await startService(loadConfig(process.argv[2], {}).config, { converter });
