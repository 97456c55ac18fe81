import type { Registry } from '#core/extension/registry.ts';
import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import { readSoldOut, type SoldOutPlans } from '#core/business/payments/places.ts';
import { type OfferedSample, describeSamples, writeSamples } from '#core/web/pages/code-samples.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { hasSetup, setupSample } from '#core/web/pages/setup-command.ts';
import { noteUnavailable, signInPath } from '#core/web/sessions/sign-in.ts';
import { describeModels, moreModels } from './models.ts';
import { describeFacts, describePlans, describeDifferences, describeSoldOut, listDays } from './plans.ts';
import { sampleAttempts, samplePass, sampleRows } from './sample-pass.ts';

/** Describes the content of the front page, ready to be printed. It claims only what this configuration provides. */
export async function describeLanding(gateway: Registry, request: PageRequest) {
  const { host, query, t } = request;
  const { catalog, service } = host;
  const hasSignIn = gateway.pages.some(({ path }) => path === signInPath);
  const isForSale = hasSignIn && getConfiguredProvider(host) !== undefined;
  const backed = catalog.models.filter(({ routes }) => routes.length > 1).length;
  const command = hasSetup(gateway) ? [oneCommand(request)] : [];
  const plansSoldOut = isForSale ? await readSoldOutPlans(request) : new Map<never, never>();
  const soldOut = describeSoldOut(request, plansSoldOut);
  const hasDocs = gateway.pages.some(({ path }) => path === '/docs');
  return {
    isDemo: catalog.upstreams.some(({ isDemo }) => isDemo),
    isForSale,
    lead: isForSale ? t('landing.lead_days', listDays(request)) : t('landing.lead'),
    soldOut,
    facts: isForSale ? describeFacts(request, soldOut !== undefined) : [],
    pass: samplePass(request),
    rows: sampleRows(catalog, request),
    keyHint: `${service.prefix}-…k3Qd`,
    plansLead: describeDifferences(request),
    plans: describePlans(request, isForSale, plansSoldOut, soldOut !== undefined),
    connectLead: t(command.length === 0 ? 'landing.connect_lead' : 'landing.connect_lead_command'),
    code: describeSamples(
      [
        ...writeSamples(host, ['openai-python', 'anthropic-python', 'gemini-python']),
        ...command,
        ...writeSamples(host, ['claude-code']),
      ],
      query['sample'],
      t('landing.samples'),
      (id) => `/?sample=${id}#connect`,
    ),
    docs: hasDocs ? '/docs' : '',
    failover: backed > 0 ? failoverText(backed, catalog.models.length, t) : '',
    attempts: sampleAttempts(request),
    models: await describeModels(gateway, request),
    moreModels: gateway.pages.some(({ path }) => path === '/status') ? moreModels(request) : '',
  };
}

async function readSoldOutPlans({ host, account }: PageRequest): Promise<SoldOutPlans> {
  try {
    return await readSoldOut(host, account?.id);
  } catch (error) {
    noteUnavailable(host, 'places cannot be read; the front page claims nothing about them', error);
    return new Map();
  }
}

/** The command for the reader's operating system, with a description. */
function oneCommand({ t, userAgent, host }: PageRequest): OfferedSample {
  const { text, value } = setupSample(userAgent, host.service.baseUrl);
  return {
    id: 'one-command',
    name: t('landing.one_command'),
    code: `# ${t('landing.one_command_does')}\n${text}`,
    value,
  };
}

function failoverText(backed: number, all: number, t: PageRequest['t']): string {
  const who = backed === all ? t('landing.backups_all') : t('landing.backups_some', { count: backed, all });
  return `${who} ${t('landing.attempts_seen')}`;
}
