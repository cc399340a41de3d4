// Memory for bodies: waiting in order, giving back, clients that go away while they wait.
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { BodyBudget } from '../../src/http/body-budget.js';

/** As far as the budget looks at a response. */
class Response extends EventEmitter {
  destroyed = false;

  end(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Enters and notes when it is in. */
function enter(budget: BodyBudget, sizeBytes: number, log: string[], name: string): Response {
  const response = new Response();
  budget
    .enter(sizeBytes, response as unknown as ServerResponse, () => new Error('gone'))
    .then(
      () => log.push(name),
      (error: Error) => log.push(`${name} ${error.message}`),
    );
  return response;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('bodies wait in order until there is room, also a small one behind a large one', async () => {
  const budget = new BodyBudget(100);
  const log: string[] = [];
  const a = enter(budget, 60, log, 'a');
  const b = enter(budget, 60, log, 'b');
  const c = enter(budget, 10, log, 'c');
  await settle();
  expect(log).toEqual(['a']);
  a.end();
  await settle();
  expect(log).toEqual(['a', 'b', 'c']);
  b.end();
  c.end();
});

it('a client that goes away while it waits lets the next one in, and holds nothing', async () => {
  const budget = new BodyBudget(100);
  const log: string[] = [];
  const a = enter(budget, 100, log, 'a');
  const b = enter(budget, 100, log, 'b');
  enter(budget, 100, log, 'c');
  await settle();
  b.end();
  a.end();
  await settle();
  expect(log).toEqual(['a', 'b gone', 'c']);
});

it('what waits behind a client that goes away need not wait for another', async () => {
  const budget = new BodyBudget(100);
  const log: string[] = [];
  enter(budget, 60, log, 'a');
  const b = enter(budget, 60, log, 'b');
  enter(budget, 10, log, 'c');
  b.end();
  await settle();
  expect(log.sort()).toEqual(['a', 'b gone', 'c']);
});

it('one that is larger than everything comes in alone', async () => {
  const budget = new BodyBudget(100);
  const log: string[] = [];
  const a = enter(budget, 10, log, 'a');
  const b = enter(budget, 500, log, 'b');
  await settle();
  expect(log).toEqual(['a']);
  a.end();
  await settle();
  expect(log).toEqual(['a', 'b']);
  b.end();
});

it('a response that is closed already holds nothing', async () => {
  const budget = new BodyBudget(100);
  const closed = new Response();
  closed.destroyed = true;
  await budget.enter(100, closed as unknown as ServerResponse, () => new Error('gone'));
  const log: string[] = [];
  enter(budget, 100, log, 'next');
  await settle();
  expect(log).toEqual(['next']);
});
