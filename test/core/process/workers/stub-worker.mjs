/*
 * In the place of a worker's process: it notes what its supervisor sends, and behaves as `behaviours.json` in the folder of its first
 * argument says of its number.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder] = process.argv;
const [number, , , alone] = process.env.DAYPASS_WORKER.split('/').map(Number);
const {
  exit,
  serves = true,
  load,
  reloads = true,
  lastsUntil,
  answer,
} = JSON.parse(readFileSync(join(folder, 'behaviours.json'), 'utf8'))[number] ?? {};
const note = (noted) =>
  appendFileSync(join(folder, `${number}.ndjson`), `${JSON.stringify({ pid: process.pid, ...noted })}\n`);

note({ kind: 'began', isAlone: alone === 1 });
if (exit !== undefined) process.exit(exit);
process.on('message', (order) => {
  note(order);
  if (order.kind === 'stop' && [undefined, order.order].includes(lastsUntil)) process.exit(0);
  if (order.kind === 'reload') process.send({ kind: 'answer', id: order.id, answer: reloads });
  if (order.kind === 'ask') process.send({ kind: 'answer', id: order.id, answer });
});
if (serves) process.send({ kind: 'ready' });
if (load !== undefined) process.send({ kind: 'load', running: load });
