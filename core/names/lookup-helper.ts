import { lookup } from 'node:dns';
import type { Question } from './names.ts';
import type { HelperAnswer } from './system-resolver.ts';

/*
 * The helper process of SystemResolver: resolves the names that it receives, each in a thread of its own, and ends with the
 * gateway, also if that is killed. Signals for the process group are the gateway's to handle.
 */

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', ({ id, hostname, ...options }: Question & { readonly id: number }) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const answer: HelperAnswer = error === null ? { id, addresses } : { id, code: error.code ?? 'EAI_FAIL' };
    if (process.connected) process.send?.(answer, () => undefined);
  });
});
