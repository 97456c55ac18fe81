import type { Command as Parser } from 'commander';
import { ensureDemoAccount } from '../accounts/demo-account.ts';
import { Gateway } from '../app.ts';
import { ConfigError } from '../config/mistake.ts';
import { watchFile } from '../config/watch.ts';
import type { CoreCommandContext } from './context.ts';
import { untilStopped } from './until-stopped.ts';

export function defineStart(parser: Parser, { file, log, print }: CoreCommandContext): void {
  parser
    .command('start')
    .description('serve until SIGTERM or SIGINT; reload the configuration when the file changes and on SIGHUP')
    .action(async () => {
      // Installed first: a gateway that is stopped while it starts stops in order once it has started.
      const plugins = new Map<string, string>();
      const stopped = untilStopped(log, plugins);
      const gateway = await Gateway.start({ file: file(), environment: process.env, log });
      for (const [name, path] of gateway.foreignPlugins) plugins.set(name, path);
      for (const line of await greeting(gateway)) print(line);
      const reload = async (isRequested: boolean) => {
        try {
          const hasChanged = await gateway.reload();
          if (isRequested && !hasChanged) log.info(`${file()} has not changed`);
        } catch (error) {
          log.error(
            `${file()} was not reloaded; the running configuration stays`,
            error instanceof ConfigError ? error.message : error,
          );
        }
      };
      const onError = (error: Error) => log.warn(`${file()} cannot be watched: ${error.message}`);
      using _watch = watchFile(file(), () => void reload(false), onError);
      process.on('SIGHUP', () => void reload(true));
      const cause = await stopped;
      if (cause instanceof Error) log.error('the gateway stops because of an unhandled error', cause);
      else log.info(`${cause}: finishing running requests`);
      await gateway.stop();
      log.info('stopped');
      // A timer of a plugin, say, may still hold the process. Everything that matters is closed.
      process.exit(cause instanceof Error ? 1 : 0);
    });
}

/** The URLs, and a curl line that works. */
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
    `  Front page  ${url}/`,
    ...(demo === undefined ? [] : [`  Demo key    ${demo.key}   (for trying out; not in production)`]),
    ...(catalog.upstreams.some(({ isDemo }) => isDemo)
      ? ['  Demo        the demo upstream generates its answers; they come from no model']
      : []),
    ...gateway.notices.map((notice) => `  Note        ${notice}`),
    '',
    `  curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
    '',
  ];
}
