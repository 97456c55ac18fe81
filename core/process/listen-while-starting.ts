import { listen } from '#core/config/sections/core-sections.ts';
import type { Assembly } from '#core/extension/assembly.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';
import { StartingListener } from '#core/gateway/http/starting-listener.ts';
import { noteFailure } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { WorkerSettings } from './workers/settings.ts';

/** Opens the listener for clients that connect while the gateway starts. A worker's sockets belong to its supervisor. */
export function listenWhileStarting(
  { listener }: Assembly,
  config: Config,
  { worker, log }: { readonly worker?: WorkerSettings | undefined; readonly log: Logger },
): StartingListener {
  return new StartingListener({
    listener,
    address: worker === undefined ? config.get(listen) : { descriptors: worker.socketDescriptors },
    onError: (error) => noteFailure(log, 'accepting a connection', error),
    // If other workers can serve requests, this one accepts none until it has started.
    ...(worker?.isAlone === false && { delayMs: Infinity }),
  });
}
