import type { Route } from '#core/config/catalog/catalog.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { printEntries } from '#core/extension/commands/list-command.ts';
import type { OutputOptions } from '#core/extension/commands/show-command.ts';
import { formatTable, paint } from '#core/extension/commands/table-text.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { type CheckResult, listChecks, listProbedRoutes, runCheck } from './probe-route.ts';
import { probes } from './resource.ts';
import { Trials } from './trials.ts';

interface Options extends OutputOptions {
  readonly ask?: true;
  readonly baseline?: true;
  readonly key?: string;
  readonly model?: string;
}

const styles = { ok: 'green', failed: 'red', unknown: 'yellow' } as const;

export function createProbeCommand(gateway: Registry): Command {
  return {
    name: 'probe',
    define(parser, context) {
      parser
        .description('test whether a route does what it declares, or test a vendor before buying')
        .argument(
          '[target]',
          'a route, such as openai/gpt-6-sol, or the base URL of a vendor; without one, the last results are listed',
        )
        .option('--baseline', 'store the answers of the route as the baseline for later fingerprints')
        .option('--ask', 'with a URL: send requests to a model, which the vendor bills')
        .option('--model <model>', 'with a URL and --ask: the model, by the vendor’s name for it')
        .option(
          '--key <key>',
          'with a URL: the API key; safer in the environment variable PROBE_KEY, or `-` to read it from stdin',
        )
        .option('--json', 'print JSON')
        .addOption(zoneOption())
        .addHelpText(
          'after',
          `

The vendor bills the requests of a probe. They count toward probes.daily_tokens, but are not limited by it.
For a URL, it prints the sections for gateway.yaml, including the vendor's quirks but without the key. Without --ask, it only
reads the list of models, which identifies self-hosted servers.

Examples:
  daypass probe openai/gpt-6-sol
  daypass probe http://127.0.0.1:8000/v1
  PROBE_KEY=… daypass probe https://api.example.com/v1 --ask --model example-large > vendor.yaml

Exit codes: 0 success, 1 a check failed or nothing could be found out, 2 invalid usage.`,
        )
        .action(async (target: string | undefined, options: Options) => {
          if (target === undefined)
            return context.withHost(async (host) => {
              const page = await probes.list(host, {}, { limit: Infinity, timeZone: zoneOf(host, options) });
              await printEntries(context, host, probes, page, options, { maxLength: Infinity });
            });
          if (/^https?:\/\//i.test(target)) return probeUrl(gateway, context, target, options);
          return probeRoute(gateway, context, target, options);
        });
    },
  };
}

async function probeRoute(
  gateway: Pick<Registry, 'endpoints' | 'stages' | 'vendors'>,
  { withHost, print }: CommandContext,
  id: string,
  { baseline, json }: Options,
): Promise<void> {
  const results = await withHost(async (host) => {
    const probedRoute = listProbedRoutes(host).find(({ route }) => route.id === id);
    if (probedRoute === undefined) {
      const ids = listProbedRoutes(host).map(({ route }) => route.id);
      throw new CommandFailed(`Route "${id}" not found, or of a kind that cannot be probed. Routes: ${ids.join(', ')}`);
    }
    await using stack = new AsyncDisposableStack();
    const route = await startBundledVendor(probedRoute.route, gateway, host, stack);
    const opened = await Trials.open(host, gateway);
    if (opened === undefined)
      throw new CommandFailed('The pipeline lacks the `format` or `upstream` stage, so nothing can be tested.');
    const trials = stack.use(opened);
    const finished: CheckResult[] = [];
    for (const check of listChecks(probedRoute.model, route)) {
      const parts = { host, trials, budget: undefined, isBaseline: baseline === true };
      const result = await runCheck(parts, probedRoute.model, route, check);
      if (result === undefined) throw new CommandFailed(`Another process is testing ${id} now.`);
      finished.push(result);
      if (!json) print(formatResult(result));
      if (check.name === 'answers' && result.verdict.state !== 'ok') break;
    }
    return finished;
  });
  if (json) print(JSON.stringify(toOperatorJson(results, true), null, 2));
  const failed = results.filter(({ verdict }) => verdict.state === 'failed').map(({ check }) => check);
  if (failed.length > 0) throw new CommandFailed(`${id} does not do what it declares: ${failed.join(', ')}.`);
}

async function startBundledVendor(
  route: Route,
  { vendors }: Pick<Registry, 'vendors'>,
  { log }: Host,
  stack: AsyncDisposableStack,
): Promise<Route> {
  const start = vendors.get(route.upstream.vendor ?? '')?.start;
  // Only vendors that the gateway itself provides, such as the demo, are started here.
  if (start === undefined) return route;
  const { baseUrl } = stack.use(await start({ log }));
  return { ...route, upstream: { ...route.upstream, baseUrl } };
}

function formatResult({ check, verdict, tokens, firstContentMs, tokensPerSecond, score }: CheckResult): string {
  const { state, detail } = verdict;
  const facts = [
    verdict.state === 'ok' ? '' : verdict.reason,
    detail ?? '',
    firstContentMs === undefined ? '' : `first token after ${Math.round(firstContentMs)} ms`,
    tokensPerSecond === undefined ? '' : `${Math.round(tokensPerSecond)} tokens/s`,
    score === undefined ? '' : `${score}% similar to the baseline`,
    `${tokens} tokens`,
  ];
  const summary = facts.filter((part) => part !== '').join(', ');
  return (
    formatTable([check, state, summary], [], { minWidths: [13, 8], maxLength: Infinity })[0]?.replace(
      state,
      paint(styles[state], state),
    ) ?? ''
  );
}

async function printServerPreset(
  { vendors }: Pick<Registry, 'vendors'>,
  print: CommandContext['print'],
  url: string,
  key: string,
  isJson: boolean,
): Promise<void> {
  const { describeServer, recognizeServer } = await import('./recognize.ts');
  // Listing the models costs nothing.
  const server = await recognizeServer(url, key);
  const preset = server && vendors.get(server.vendor);
  if (server === undefined || preset === undefined)
    throw new CommandFailed(
      `The list of models at ${url} does not identify the server. Add --ask --model MODEL to try requests, which the vendor bills.`,
    );
  if (isJson) {
    const { capabilities, quirks } = preset;
    return print(JSON.stringify(toOperatorJson({ ...server, capabilities, quirks }, true)));
  }
  for (const line of describeServer(server, preset)) print(line);
}

async function probeUrl(
  gateway: Registry,
  { print }: CommandContext,
  url: string,
  { ask, model, key, json }: Options,
): Promise<void> {
  if (!URL.canParse(url))
    throw new CommandFailed(`"${url}" is not a valid URL; use one such as https://api.example.com/v1`, 2);
  if (ask !== true) return printServerPreset(gateway, print, url, await readKey(key), json === true);
  if (model === undefined || model === '')
    throw new CommandFailed(
      'Which model? Add --model with the vendor’s name for it, such as --model example-large.',
      2,
    );
  const [{ probeVendor }, { createTestHost }] = await Promise.all([
    import('./vendor.ts'),
    import('#core/extension/testing/test-host.ts'),
  ]);
  // The vendor is not configured yet, so neither gateway.yaml nor a database is needed.
  const silentNotifications = { listen: async () => () => undefined, isConnected: true };
  await using testHost = createTestHost({ database: { notifications: silentNotifications } as unknown as Database });
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (text: string) => process.stderr.write(`${text}\n`),
  };
  const createHost = (config: Pick<Host, 'catalog' | 'stages'>): Host => ({
    ...testHost,
    ...config,
    log,
    now: () => Date.now(),
    monotonic: () => performance.now(),
  });
  const target = { url, model, key: await readKey(key) };
  const report = (line: string) => json || process.stderr.write(`${line}\n`);
  const { yaml, variable, lines, unreachable } = await probeVendor(gateway, target, createHost, report);
  if (json) print(JSON.stringify({ yaml: yaml ?? null, findings: lines }));
  if (yaml === undefined)
    throw new CommandFailed(
      unreachable ?? `${url} did not answer in any format. Check URL, key and model; the reasons are above.`,
    );
  if (json) return;
  print(`# Found by daypass probe. Not tried: files, audio, video, context. Declare max_input_tokens yourself.`);
  if (target.key !== '') print(`# Set the key in the environment variable ${variable}.`);
  print(yaml.trimEnd());
}

async function readKey(option: string | undefined): Promise<string> {
  // Process lists show the option, but neither the environment nor stdin.
  if (option !== '-') return option ?? process.env['PROBE_KEY'] ?? '';
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString().trim();
}
