import { lookup } from 'node:dns';

/*
 * The helper process of SystemResolver. It resolves each received name in a separate thread and exits with the gateway, even if the gateway
 * is killed. Signals to the process group are ignored, because the gateway handles them.
 *
 * Plain JavaScript, because removing types would cost 13 MB and 0.2 s.
 */

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', ({ id, hostname, ...options }) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const response = error === null ? { id, addresses } : { id, code: error.code ?? 'EAI_FAIL' };
    if (process.connected) process.send(response, () => undefined);
  });
});
