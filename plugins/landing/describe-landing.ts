import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import { readSoldOut, type SoldOutPlans } from '#core/business/payments/places.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type SampleTab, describeSamples, renderSamples } from '#core/web/pages/code-samples.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { hasSetup, createSetupSample } from '#core/web/pages/setup-command.ts';
import { logUnavailable, signInPath } from '#core/web/sessions/sign-in.ts';
import { describeModels, describeMoreModelsLink } from './models.ts';
import { describeFacts, describePlans, describeDifferences, describeSoldOutNotice, describeDays } from './plans.ts';
import { describeSampleAttempts, describeSamplePass, describeSampleRows } from './sample-pass.ts';

/** Claims only what this configuration can do. */
export async function describeLanding(registry: Registry, request: PageRequest) {
  const { host, query, t } = request;
  const { catalog, service } = host;
  const hasSignIn = registry.pages.some(({ path }) => path === signInPath);
  const isForSale = hasSignIn && getConfiguredProvider(host) !== undefined;
  const failoverModelCount = catalog.models.filter(({ routes }) => routes.length > 1).length;
  const setupSamples = hasSetup(registry) ? [describeSetupCommand(request)] : [];
  const soldOutPlans: SoldOutPlans = isForSale ? await readSoldOutPlans(request) : new Map();
  const soldOut = describeSoldOutNotice(request, soldOutPlans);
  const hasDocs = registry.pages.some(({ path }) => path === '/docs');
  return {
    isDemo: catalog.upstreams.some(({ isDemo }) => isDemo),
    isForSale,
    lead: isForSale ? t('landing.lead_days', describeDays(request)) : t('landing.lead'),
    soldOut,
    facts: isForSale ? describeFacts(request, soldOut !== undefined) : [],
    pass: describeSamplePass(request),
    rows: describeSampleRows(catalog, request),
    keyHint: `${service.prefix}-…k3Qd`,
    plansLead: describeDifferences(request),
    plans: describePlans(request, isForSale, soldOutPlans, soldOut !== undefined),
    connectLead: t(setupSamples.length === 0 ? 'landing.connect_lead' : 'landing.connect_lead_command'),
    code: describeSamples(
      [
        ...renderSamples(host, ['openai-python', 'anthropic-python', 'gemini-python']),
        ...setupSamples,
        ...renderSamples(host, ['claude-code']),
      ],
      query['sample'],
      t('landing.samples'),
      (id) => `/?sample=${id}#connect`,
    ),
    docs: hasDocs ? '/docs' : '',
    failover: failoverModelCount > 0 ? describeFailover(failoverModelCount, catalog.models.length, t) : '',
    attempts: describeSampleAttempts(request),
    models: await describeModels(registry, request),
    moreModels: registry.pages.some(({ path }) => path === '/status') ? describeMoreModelsLink(request) : '',
  };
}

async function readSoldOutPlans({ host, account }: PageRequest): Promise<SoldOutPlans> {
  try {
    return await readSoldOut(host, account?.id);
  } catch (error) {
    logUnavailable(host, 'places cannot be read; the front page omits them', error);
    return new Map();
  }
}

function describeSetupCommand({ t, userAgent, host }: PageRequest): SampleTab {
  const { text, value } = createSetupSample(userAgent, host.service.baseUrl);
  return {
    id: 'one-command',
    name: t('landing.one_command'),
    code: `# ${t('landing.one_command_does')}\n${text}`,
    value,
  };
}

function describeFailover(backedCount: number, modelCount: number, t: PageRequest['t']): string {
  const sentence =
    backedCount === modelCount
      ? t('landing.backups_all')
      : t('landing.backups_some', { count: backedCount, all: modelCount });
  return `${sentence} ${t('landing.attempts_seen')}`;
}
