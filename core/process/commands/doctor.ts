import { dirname, resolve } from 'node:path';
import { type Command as Parser, InvalidArgumentError } from 'commander';
import { ConfigError } from '#core/config/file/mistake.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { data, service } from '#core/config/sections/core-sections.ts';
import { parseEmail, parseInteger } from '#core/extension/commands/arguments.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { paint, type TextStyle } from '#core/extension/commands/table-text.ts';
import { Keeper } from '#core/extension/keeper.ts';
import type { Diagnosis, DiagnosisHost, PublicAddress } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok } from '#core/gateway/diagnosis/finding.ts';
import { createHost, type Services } from '#core/gateway/host/host.ts';
import { createLogger, escapeControls } from '#core/platform/logger.ts';
import type { CheckedFinding, NamedCheck } from '../doctor/run-checks.ts';
import type { CoreCommandContext, LoadedGateway } from './context.ts';

const defaultTimeoutSeconds = 10;
const defaultSlowSeconds = 65; // longer than 60 s, the timeout of many proxies

interface DoctorOptions {
  readonly json?: true;
  readonly timeout?: number;
  readonly only?: readonly string[];
  readonly url?: string | true;
  readonly slow: number;
  readonly mail?: string;
}

export function defineDoctor(parser: Parser, context: CoreCommandContext): void {
  parser
    .command('doctor')
    .description(
      'check everything that the gateway depends on, with advice: configuration, Node.js, database, Redis, disk, clock, upstreams and their keys, payments, mail, sign-in, public URL',
    )
    .option('--json', 'print JSON: { ok, checks: [{ check, subject, state, text, advice, ms }] }')
    .option(
      '--only <checks>',
      'run only these checks, such as database,api_keys, plus those for --url and --mail',
      (text: string) => text.split(','),
    )
    .option('--timeout <seconds>', 'for each check, 1 to 60; default: 10; all checks run at once', parseInteger(1, 60))
    .option(
      '--url [url]',
      'also call the gateway at its public address as a customer would, to check the proxy; default: service.base_url; takes up to two minutes',
      parseUrl,
    )
    .option(
      '--slow <seconds>',
      'with --url: how long its slow calls take, 1 to 600',
      parseInteger(1, 600),
      defaultSlowSeconds,
    )
    .option(
      '--mail <address>',
      'also send an e-mail to this address, and look up the sender’s SPF, DMARC and DKIM',
      parseEmail,
    )
    .addHelpText(
      'after',
      '\n\nWorks whether or not a gateway runs, and changes nothing; only --mail sends something. Prints no secrets.\nExit codes: 0 nothing failed (there may be warnings), 1 something failed, 2 invalid usage.',
    )
    .action((options: DoctorOptions) => runDoctor(context, options));
}

async function runDoctor(context: CoreCommandContext, options: DoctorOptions): Promise<void> {
  const { json, only, timeout = defaultTimeoutSeconds } = options;
  const { file, print } = context;
  const loaded = await context.load().catch((error: unknown) => {
    if (error instanceof ConfigError) return error;
    throw error;
  });
  const configuration = createConfigurationCheck(file(), loaded);
  const checks = loaded instanceof ConfigError ? [] : await createChecks(loaded, context, options);
  const names = new Set(['configuration', ...checks.map(({ name }) => name)]);
  const unknownNames = only?.filter((name) => !names.has(name)) ?? [];
  if (unknownNames.length > 0 && !(loaded instanceof ConfigError))
    throw new CommandFailed(`Check "${unknownNames.join('", "')}" not found. Checks: ${[...names].join(', ')}`, 2);
  // If the file is invalid, only the configuration check can run.
  const selectedChecks =
    loaded instanceof ConfigError
      ? [configuration]
      : [configuration, ...checks].filter(({ name, isAsked }) => isAsked ?? only?.includes(name) ?? true);
  const [{ runChecks }, { listConfiguredSecrets, createSecretRemover }] = await Promise.all([
    import('../doctor/run-checks.ts'),
    import('../secret-remover.ts'),
  ]);
  const secrets = loaded instanceof ConfigError ? [] : listConfiguredSecrets(loaded.config, loaded.registry);
  const findings = await runChecks(selectedChecks, timeout * 1000, createSecretRemover(process.env, secrets));
  const failures = findings.filter(({ state }) => state === 'failed').length;
  if (json) print(JSON.stringify({ ok: failures === 0, checks: findings }));
  else for (const line of formatFindings(findings)) print(line);
  if (failures > 0) throw new CommandFailed(`${failures} of ${findings.length} checks failed`);
}

function createConfigurationCheck(file: string, loaded: LoadedGateway | ConfigError): NamedCheck {
  const finding: Finding =
    loaded instanceof ConfigError
      ? failed(loaded.message, 'Correct these lines; the other checks need a valid file.')
      : ok('is valid');
  return { name: 'configuration', subject: file, run: async () => finding };
}

async function createChecks(
  { document, config, registry }: LoadedGateway,
  { file }: CoreCommandContext,
  options: DoctorOptions,
): Promise<NamedCheck[]> {
  const [{ databaseDiagnoses }, { createRedisDiagnosis }, machine] = await Promise.all([
    import('../doctor/database.ts'),
    import('../doctor/redis.ts'),
    import('../doctor/machine.ts'),
  ]);
  const { REDIS_URL, REDIS_QUEUE_URL } = process.env;
  const diagnoses: Diagnosis[] = [
    machine.nodeDiagnosis,
    machine.gatewayDiagnosis,
    ...databaseDiagnoses(process.env, [...registry.databaseTables.values()]),
    createRedisDiagnosis(REDIS_URL || undefined, (REDIS_URL && REDIS_QUEUE_URL) || undefined),
    machine.diskDiagnosis,
    machine.clockDiagnosis,
    machine.baseUrlDiagnosis,
    ...registry.diagnoses.values(),
  ];
  const catalog = buildCatalog(config, registry.vendors, registry.formats);
  const host = createHost(
    createClosedServices(resolve(dirname(file()), config.get(data).folder), document),
    config,
    catalog,
  );
  const diagnosisHost = {
    ...host,
    publicAddress: choosePublicAddress(options, config.get(service).base_url),
    mailAddress: options.mail,
    seconds: options.timeout,
  };
  return diagnoses.flatMap((diagnosis) => createNamedChecks(diagnosis, diagnosisHost));
}

function choosePublicAddress(
  { url, slow }: DoctorOptions,
  configuredUrl: string | undefined,
): PublicAddress | undefined {
  if (url === undefined) return undefined;
  const address = url === true ? configuredUrl : url;
  if (!address) throw new CommandFailed('service.base_url is not set. Use --url https://…', 2);
  return { url: address, seconds: slow };
}

function createNamedChecks({ name, checks }: Diagnosis, host: DiagnosisHost): NamedCheck[] {
  try {
    return [...checks(host)].map(({ subject, timeout, isAsked, run }) => ({
      name,
      ...(isAsked !== undefined && { isAsked }),
      ...(subject !== undefined && { subject }),
      ...(timeout !== undefined && { timeout }),
      run,
    }));
  } catch (error) {
    return [{ name, run: () => Promise.reject(error instanceof Error ? error : new Error(String(error))) }];
  }
}

function createClosedServices(dataFolder: string, { isProduction }: LoadedGateway['document']): Services {
  // Opens no database, because the database may be the cause of the problem.
  const keeper = new Keeper();
  const services: Pick<Services, keyof DiagnosisHost & keyof Services> = {
    dataFolder,
    isProduction,
    log: createLogger(() => undefined),
    now: () => Date.now(),
    monotonic: () => performance.now(),
    keep: (key, create) => keeper.keep(key, create),
  };
  return services as Services;
}

const styleByState: Readonly<Record<Finding['state'], TextStyle>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

function formatFindings(findings: readonly CheckedFinding[]): string[] {
  const titles = findings.map(({ check, subject }) => (subject === undefined ? check : `${check} (${subject})`));
  const width = Math.min(40, Math.max(...titles.map(({ length }) => length)));
  return findings.flatMap(({ state, text, advice }, index) => [
    `${paint(styleByState[state], state.padEnd(7))}  ${escapeControls(titles[index] ?? '').padEnd(width)}  ${escapeControls(text).replaceAll('\n', `\n${' '.repeat(11)}`)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(11)}→ ${escapeControls(advice)}`]),
  ]);
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.username === '')
    return text.replace(/\/v1\/*$/, '');
  throw new InvalidArgumentError('Use a URL such as https://ai.example.com.');
}
