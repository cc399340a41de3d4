/** A thread that answers like the store's, but after the time that it is told, as a volume that hangs makes it. */
import { parentPort } from 'node:worker_threads';

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

parentPort.on('message', ({ id, method, args: [argument] }) => {
  if (method === 'wait') sleep(argument);
  if (method === 'die') process.exit(7);
  if (method === 'crash') throw new Error('the thread fell over');
  if (method === 'work') {
    for (let step = 0; step < 5; step += 1) {
      sleep(argument);
      parentPort.postMessage([{ id, kind: 'alive' }]);
    }
  }
  parentPort.postMessage([{ id, kind: 'value', value: argument }]);
  if (method === 'close') parentPort.close();
});
parentPort.postMessage([{ id: 0, kind: 'value', value: undefined }]);
