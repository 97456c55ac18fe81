import type { Command as Parser } from 'commander';
import type { IssuedKey } from '#core/business/accounts/account-key.ts';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { watchFiles } from '#core/config/file/watch.ts';
import { type ForeignPlugins, isForeignRejection, findFailedPlugin } from '#core/extension/origin.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { guardListener, runInBackground } from '#core/platform/background.ts';
import { describeConnectionError, isConnectionError } from '#core/platform/errors/connection-error.ts';
import { StartRefused } from '#core/platform/errors/start-refused.ts';
import { exitCodeOf } from '#core/platform/exit-codes.ts';
import { exitAtOnce } from '#core/platform/hung-work.ts';
import type { LogFormat, Logger } from '#core/platform/logger.ts';
import { installNameCache } from '#core/platform/names/install.ts';
import type { Gateway, GatewayOptions } from '../app.ts';
import { formatGreeting, formatRunningLine } from '../greeting.ts';
import { logWarnings, openProcessLog, type ProcessLog } from '../process-log.ts';
import type { StopCause, StopSignals } from '../stop-signals.ts';
import type { WorkerPlan } from '../workers/plan.ts';
import { readWorkerSettings } from '../workers/settings.ts';
import type { CoreCommandContext } from './context.ts';

export function defineStart(parser: Parser, context: CoreCommandContext, createSignals: () => StopSignals): void {
  parser
    .command('start')
    .description('serve until SIGTERM or SIGINT; reload the configuration when the file changes and on SIGHUP')
    .option('--no-notice', 'stop without the notice period of gateway.yaml, as in development')
    .action(async ({ notice }: { notice: boolean }) => {
      // Created first, so that a signal also stops a gateway that is still starting.
      const signals = createSignals();
      signals.startHandling();
      const processLog = openProcessLog(process.env);
      if (processLog.format === 'text') return serve(context, processLog, signals, notice);
      logWarnings(processLog.log);
      // A log collector must receive nothing but JSON, so failures are logged, not printed.
      await serve(context, processLog, signals, notice).catch((error: unknown) => {
        const isRefused = error instanceof ConfigError || error instanceof StartRefused;
        processLog.log.error('the gateway has not started', isRefused ? error.message : error);
        process.exit(exitCodeOf(error));
      });
    });
}

async function serve(
  { file, print }: CoreCommandContext,
  { log, format, hideSecrets }: ProcessLog,
  signals: StopSignals,
  notice: boolean,
): Promise<void> {
  const plugins = new Map<string, string>();
  stopOnErrors(signals, log, plugins);
  const document = await readDocument(file(), process.env);
  const workerSettings = readWorkerSettings();
  const plan = workerSettings === undefined ? await findWorkerPlan(document) : undefined;
  if (plan !== undefined) {
    const { supervise } = await import('../workers/supervisor.ts');
    return exitProcess(...(await supervise(plan, signals, log)));
  }
  const link = workerSettings && new (await import('../workers/link.ts')).SupervisorLink(signals, log);
  const worker = workerSettings && link && { ...workerSettings, link };
  using _names = installNameCache(log);
  // Ensures that the demo key exists before listening, so that scripts that wait for readiness find a valid key.
  const beforeListening = (host: Host) => readDemoKey(host, log);
  const options = { file: file(), document, environment: process.env, log, worker, beforeListening };
  const gateway = await startUnlessStopped(signals, options);
  if (gateway === undefined) return exitProcess(await signals.first);
  for (const [name, path] of gateway.foreignPlugins) plugins.set(name, path);
  hideSecrets(gateway.secrets);
  if (link === undefined) await greet(gateway, gateway.operatorUrl, log, format, print);
  const reloadGateway = createReloader(gateway, file(), log, () => hideSecrets(gateway.secrets));
  // Refreshes the watch even if the file was refused: it may name other secret files, which may not exist yet.
  const reload = (isRequested: boolean) => reloadGateway(isRequested).finally(() => watch.refresh());
  const reloadInBackground = guardListener(log, 'reloading gateway.yaml', reload);
  const onError = (error: Error, path: string) => log.warn(`${path} cannot be watched: ${error.message}`);
  using watch = watchFiles(
    () => gateway.files,
    () => reloadInBackground(false),
    onError,
  );
  signals.onReload(() => reloadInBackground(true));
  link?.serve({
    requestsInFlight: () => gateway.requestsInFlight,
    shedConnections: (connections) => gateway.shedConnections(connections),
    respondToOperator: (question) => gateway.respondToOperator(question),
    reload: () => reload(true),
    greet: (operatorUrl) => greet(gateway, operatorUrl, log, format, print),
  });
  const cause = await signals.first;
  if (cause instanceof Error) log.error('unhandled error; the gateway is stopping', cause);
  else log.info(`${cause}: finishing requests in flight`);
  // If the supervisor is gone, its successor needs the port.
  const isReplaced = cause === 'replaced' || cause === 'supervisor lost';
  const skipNotice = notice || isReplaced ? signals.hurry : AbortSignal.abort();
  const isClean = await Promise.race([
    stopGateway(gateway, skipNotice, isReplaced, log),
    endAtThirdSignal(gateway, signals, log),
  ]);
  log.info('stopped');
  exitProcess(cause, isClean);
}

async function findWorkerPlan(document: GatewayDocument): Promise<WorkerPlan | undefined> {
  if (!document.contains(['workers'])) return undefined;
  // Imported late, because a single process does not need this module.
  const { planWorkers } = await import('../workers/plan.ts');
  return planWorkers(document);
}

function createReloader(
  gateway: Gateway,
  file: string,
  log: Logger,
  onChange: () => void,
): (isRequested: boolean) => Promise<boolean> {
  let wasRefused = false;
  return async (isRequested) => {
    try {
      const hasChanged = await gateway.reload();
      if (hasChanged) onChange();
      if (!hasChanged && wasRefused) log.info(`${file} is valid again and matches the active configuration`);
      else if (!hasChanged && isRequested) log.info(`${file} has not changed`);
      wasRefused = false;
      return true;
    } catch (error) {
      wasRefused = true;
      log.error(
        `${file} was not reloaded; the previous configuration stays active`,
        error instanceof ConfigError ? error.message : error,
      );
      return false;
    }
  };
}

async function stopGateway(gateway: Gateway, hurry: AbortSignal, isReplaced: boolean, log: Logger): Promise<boolean> {
  try {
    await gateway.stop(hurry, isReplaced);
    return true;
  } catch (error) {
    log.error('the gateway could not be closed completely', error);
    await abandon(gateway, log);
    return false;
  }
}

async function endAtThirdSignal(gateway: Gateway, signals: StopSignals, log: Logger): Promise<never> {
  await signals.third;
  log.warn('third signal: exiting immediately');
  await abandon(gateway, log);
  exitAtOnce(1);
}

async function abandon(gateway: Gateway, log: Logger): Promise<void> {
  await gateway.abandon().catch((error: unknown) => log.error('the database could not be stopped', error));
}

async function startUnlessStopped(signals: StopSignals, options: GatewayOptions): Promise<Gateway | undefined> {
  const { log } = options;
  const stopping = new AbortController();
  runInBackground(log, 'stopping the start', async () => stopping.abort(await signals.first));
  try {
    // Imported late, because other commands need only a fraction of the modules used for serving.
    const { Gateway } = await import('../app.ts');
    return await Gateway.start({ ...options, signal: stopping.signal });
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    const cause = await signals.first;
    if (cause instanceof Error) log.error('unhandled error; the gateway has not started', cause);
    else log.info(`${cause}: stopped before the gateway had started`);
    return undefined;
  }
}

function exitProcess(cause: StopCause | Error, isClean = true): never {
  // Exits explicitly, because a plugin's timer may keep the process alive.
  exitAtOnce(isClean && !(cause instanceof Error) ? 0 : 1, !isClean);
}

async function readDemoKey(host: Host, log: Logger): Promise<IssuedKey | undefined> {
  const { ensureDemoAccount } = await import('#core/business/accounts/demo-account.ts');
  return ensureDemoAccount(host).catch((error: unknown) => {
    const failure = 'the demo account could not be read or created';
    if (isConnectionError(error)) log.warn(`${failure}: ${describeConnectionError(error)}`);
    else log.error(failure, error);
    return undefined;
  });
}

/**
 * Prints to stdout. If the log is JSON, a collector may read stdout too, so the address is logged instead, and the greeting is printed only
 * on a terminal or if there is a demo key (production gateways have none).
 */
async function greet(
  gateway: Gateway,
  operatorUrl: string | undefined,
  log: Logger,
  format: LogFormat,
  print: (line: string) => void,
): Promise<void> {
  const demo = await readDemoKey(gateway.host, log);
  if (format === 'json') {
    const operator = operatorUrl === undefined ? '' : `, operator listener ${operatorUrl}`;
    log.info(`${formatRunningLine(gateway.host)} at ${gateway.url}${operator}`);
    for (const notice of gateway.notices) log.warn(notice);
  }
  if (format === 'text' || demo !== undefined || process.stdout.isTTY)
    for (const line of formatGreeting(gateway, operatorUrl, demo?.key)) print(line);
}

/**
 * Stops the gateway after an unhandled error, because the state of the process is then unknown. Exchanges in flight finish first.
 * Rejections that a third-party plugin left unhandled are only logged.
 */
function stopOnErrors(signals: StopSignals, log: Logger, plugins: ForeignPlugins): void {
  const onError = (error: unknown) => signals.fail(error instanceof Error ? error : new Error(String(error)));
  process.on('uncaughtException', (error) => {
    const plugin = findFailedPlugin(error, plugins);
    if (plugin !== undefined) log.error(`plugin ${plugin} threw an uncaught exception`);
    onError(error);
  });
  process.on('unhandledRejection', (error) => {
    if (!isForeignRejection(error, plugins)) return onError(error);
    log.error(`plugin ${findFailedPlugin(error, plugins) ?? '(unknown)'} left a rejected promise unhandled`, error);
  });
}
