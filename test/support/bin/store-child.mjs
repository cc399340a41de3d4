/** Works on a job store as fast as it can, and prints a line once the store has promised something; to be killed. */
import { SqliteStore } from '../../../dist/jobs/sqlite-store.js';

const [path] = process.argv.slice(2);
const store = await SqliteStore.open({ path }).catch((error) => {
  console.log(error.message);
  process.exit(3);
});
await store.recover({ nowMs: Date.now(), maxJobCrashes: 0 });

const request = {
  input: { kind: 'upload' },
  output: { kind: 'dir', format: 'pdf', options: {} },
  highPriority: false,
};
const outcome = {
  kind: 'succeeded',
  fromActual: 'ofd',
  output: { kind: 'dir', path: '/out', sizeBytes: 1 },
  products: [],
  pages: 1,
};

async function submitForEver(sizeBytes) {
  const bytes = Buffer.alloc(sizeBytes, 'x');
  for (;;) {
    const { job } = await store.submit(
      {
        lane: 'fast',
        from: 'ofd',
        to: 'pdf',
        highPriority: false,
        inputBytes: sizeBytes,
        createdAtMs: Date.now(),
        request,
      },
      { bytes },
    );
    console.log(`submitted ${job.id} ${sizeBytes > 65_536 ? 'large' : 'small'}`);
  }
}

async function workForEver() {
  for (;;) {
    const attempt = await store.claim('fast', Date.now());
    if (!attempt) continue;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    if (await store.settle(attempt, outcome, Date.now())) console.log(`succeeded ${attempt.job.id}`);
  }
}

await Promise.all([submitForEver(100), submitForEver(100), submitForEver(200_000), workForEver(), workForEver()]);
