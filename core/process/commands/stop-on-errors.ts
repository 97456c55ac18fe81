import type { Logger } from '#core/platform/logger.ts';
import { type ForeignPlugins, isForeignRejection, pluginOf } from '#core/extension/origin.ts';
import type { StopSignals } from './stop-signals.ts';

/**
 * Stops the gateway at an unhandled error: the state of the process is then unknown, so running exchanges finish and the process
 * exits.
 *
 * A promise that a third-party plugin has forgotten to await ends nothing: its rejection is logged.
 */
export function stopOnErrors(signals: StopSignals, log: Logger, plugins: ForeignPlugins): void {
  const onError = (error: unknown) => signals.fail(error instanceof Error ? error : new Error(String(error)));
  process.on('uncaughtException', (error) => {
    const plugin = pluginOf(error, plugins);
    if (plugin !== undefined) log.error(`plugin ${plugin} threw an uncaught exception`);
    onError(error);
  });
  process.on('unhandledRejection', (error) => {
    if (!isForeignRejection(error, plugins)) return onError(error);
    log.error(`plugin ${pluginOf(error, plugins) ?? '(unknown)'} left a rejected promise unhandled`, error);
  });
}
