import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Loaded into a gateway by `--import`. Sets its wall clock as NTP or an operator would: by the ms in the file SHIFTED_CLOCK, which is
 * read again and again. `FILE.seen` has what is in force. PostgreSQL's clock stays as it is, as on another machine.
 */

const file = process.env['SHIFTED_CLOCK'] ?? '';
let step = 0;

const now = Date.now.bind(Date);
Date.now = () => now() + step;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [Date.now()] : given, made),
  apply: () => new Date().toString(),
});

setInterval(() => {
  const wanted = Number(readFileSync(file, 'utf8'));
  if (wanted === step) return;
  step = wanted;
  writeFileSync(`${file}.seen`, String(step));
}, 20).unref();
