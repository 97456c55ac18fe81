import type { Logger } from '../logger.ts';
import { type ForeignPlugins, isForeignRejection, pluginOf } from '../extension/origin.ts';

/** Ms in which a repeated signal is the same one: `timeout`, `node --watch` and shells send it more than once. */
const sameSignal = 2_000;

/**
 * Resolves to the signal that stops the gateway, or to an unhandled error: the state of the process is then unknown, so running
 * exchanges finish and the process exits. A second signal exits immediately.
 *
 * A promise that a third-party plugin has forgotten to await ends nothing: its rejection is logged.
 */
export function untilStopped(log: Logger, plugins: ForeignPlugins): Promise<NodeJS.Signals | Error> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | Error>();
  let signalledAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (signalledAt !== undefined && performance.now() - signalledAt > sameSignal) process.exit(1);
    signalledAt ??= performance.now();
    resolve(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const onError = (error: unknown) => resolve(error instanceof Error ? error : new Error(String(error)));
  process.on('uncaughtException', (error) => {
    const plugin = pluginOf(error, plugins);
    if (plugin !== undefined) log.error(`plugin ${plugin} threw an uncaught exception`);
    onError(error);
  });
  process.on('unhandledRejection', (error) => {
    if (!isForeignRejection(error, plugins)) return onError(error);
    log.error(`plugin ${pluginOf(error, plugins) ?? '(unknown)'} left a rejected promise unhandled`, error);
  });
  return promise;
}
