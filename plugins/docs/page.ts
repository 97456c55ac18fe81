import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import { type SampleTab, describeSamples, renderSamples } from '#core/web/pages/code-samples.ts';
import type { Page } from '#core/web/pages/page.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { hasSetup, createSetupSample } from '#core/web/pages/setup-command.ts';
import { describeApi, type DescribedApi, filterHeaders } from './describe-api.ts';

export function createDocsPage(gateway: Pick<Registry, 'endpoints' | 'pages'>): Page {
  return {
    path: '/docs',
    role: 'public',
    title: 'docs.title',
    description: 'docs.lead',
    navigation: 'docs.navigation',
    template: 'docs/page.eta',
    styles: ['docs/docs.css'],
    scripts: ['htmx.js'],
    show({ host, t, query, userAgent }) {
      const api = describeApi(gateway.endpoints, host, t);
      const { text, value } = createSetupSample(userAgent, host.service.baseUrl);
      return {
        setup: hasSetup(gateway) ? { id: 'setup', label: t('docs.setup'), pieces: codePieces(text), value } : undefined,
        connect: wellKnownPaths.connect,
        addresses: api.addresses,
        groups: groupEndpoints(api),
        requestHeaders: filterHeaders(api, 'request'),
        responseHeaders: filterHeaders(api, 'response'),
        limits: api.limits,
        errors: api.errors,
        code: {
          panel: 'samples',
          ...describeSamples(
            renderDocsSamples(host),
            query['sample'],
            t('docs.start'),
            (id) => `/docs?sample=${id}#start`,
          ),
        },
      };
    },
  };
}

export function renderDocsSamples(host: Pick<Host, 'service' | 'catalog'>): SampleTab[] {
  const languages = { python: 'Python', typescript: 'TypeScript' } as const;
  const ids = ['openai-python', 'openai-typescript', 'anthropic-python', 'gemini-python', 'curl'] as const;
  return renderSamples(host, ids).map((sample) => {
    const [, language] = /-(python|typescript)$/.exec(sample.id) ?? [];
    return language === undefined ? sample : { ...sample, name: `${sample.name}, ${languages[language as 'python']}` };
  });
}

/** Endpoints without a format come last. */
function groupEndpoints({ endpoints }: DescribedApi) {
  const groups = Object.groupBy(endpoints, ({ endpoint }) => endpoint.format?.name ?? '');
  return Object.entries(groups)
    .toSorted(([a], [b]) => Number(a === '') - Number(b === ''))
    .map(([format, members = []]) => ({
      format,
      endpoints: members.map(({ endpoint, path, summary }) => ({ method: endpoint.method, path, summary })),
    }));
}
