import type { Command as Parser } from 'commander';
import { ensureDemoAccount } from '../accounts/demo-account.ts';
import { Gateway } from '../app.ts';
import { ConfigError } from '../config/mistake.ts';
import { watchFile } from '../config/watch.ts';
import type { CoreCommandContext } from './context.ts';

export function defineStart(parser: Parser, { file, log, print }: CoreCommandContext): void {
  parser
    .command('start')
    .description('Serves until it is told to stop. Loads the configuration again when it changes, and on SIGHUP.')
    .action(async () => {
      // Heard from the first moment on: who is told to stop while it starts stops properly once it has started.
      const told = toldToStop();
      const gateway = await Gateway.start({ file: file(), environment: process.env, log });
      for (const line of await greeting(gateway)) print(line);
      const reload = async (isAskedFor: boolean) => {
        try {
          const hasChanged = await gateway.reload();
          if (isAskedFor && !hasChanged) log.info(`${file()} says what runs already: nothing has changed`);
        } catch (error) {
          log.error('gateway.yaml stays as it was loaded', error instanceof ConfigError ? error.message : error);
        }
      };
      const onError = (error: Error) => log.warn(`${file()} cannot be watched: ${error.message}`);
      using _watch = watchFile(file(), () => void reload(false), onError);
      process.on('SIGHUP', () => void reload(true));
      const cause = await told;
      if (cause instanceof Error) log.error('the gateway stops because of a mistake', cause);
      else log.info(`${cause}: finishing what runs`);
      await gateway.stop();
      log.info('stopped');
      // Something may still hold the process: a timer of a plugin, say. Everything that matters is closed.
      process.exit(cause instanceof Error ? 1 : 0);
    });
}

/** Ms in which a signal that comes again is the same one: `timeout`, `node --watch` and shells send it more than once. */
const sameSignal = 2_000;

/**
 * Resolves to the signal that ends the gateway, or to an error that nobody has handled: after one of those nothing is
 * certain any more, so what runs is finished and the process gives way to a fresh one. A later signal ends at once.
 */
function toldToStop(): Promise<NodeJS.Signals | Error> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | Error>();
  let toldAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (toldAt !== undefined && performance.now() - toldAt > sameSignal) process.exit(1);
    toldAt ??= performance.now();
    resolve(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const onError = (error: unknown) => resolve(error instanceof Error ? error : new Error(String(error)));
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return promise;
}

/** What an operator wants to see first: where it is, and a line that works. */
async function greeting(gateway: Gateway): Promise<string[]> {
  const { host, url } = gateway;
  const demo = await ensureDemoAccount(host);
  const { catalog, service } = host;
  const model =
    (catalog.models.find(({ routes }) => routes.some(({ upstream }) => upstream.isDemo)) ?? catalog.models[0])?.id ??
    'MODEL';
  const key = demo?.key ?? 'KEY';
  return [
    '',
    `${service.name} is running`,
    '',
    `  Base URL    ${url}/v1   (Anthropic clients: ${url})`,
    `  Dashboard   ${url}/`,
    ...(demo === undefined ? [] : [`  Demo key    ${demo.key}   (for looking around; not in production)`]),
    ...(catalog.upstreams.some(({ isDemo }) => isDemo)
      ? ['  Demo        an upstream of the catalog only pretends: its answers come from no model']
      : []),
    ...gateway.notices.map((notice) => `  Note        ${notice}`),
    '',
    `  curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
    '',
  ];
}
