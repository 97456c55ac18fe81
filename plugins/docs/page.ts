import type { Registry } from '#core/extension/registry.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import type { Page } from '#core/web/pages/page.ts';
import { hasSetup, setupSample } from '#core/web/pages/setup-command.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { describeApi, type DescribedApi, type DescribedHeader } from './describe-api.ts';
import { writeSamples } from './samples.ts';

/** The page `/docs`. */
export function docsPage(gateway: Pick<Registry, 'endpoints' | 'pages'>): Page {
  return {
    path: '/docs',
    role: 'public',
    title: 'docs.title',
    description: 'docs.lead',
    navigation: 'docs.navigation',
    template: 'docs/page.eta',
    styles: ['docs.css'],
    scripts: ['htmx.js'],
    show({ host, t, query, userAgent }) {
      const api = describeApi(gateway.endpoints, host, t);
      const samples = writeSamples(host);
      const sample = samples.find(({ id }) => id === query['sample']) ?? samples[0];
      const { text, value } = setupSample(userAgent, host.service.baseUrl);
      return {
        setup: hasSetup(gateway) ? { id: 'setup', label: t('docs.setup'), pieces: codePieces(text), value } : undefined,
        connect: wellKnownPaths.connect,
        addresses: api.addresses,
        groups: groupEndpoints(api),
        requestHeaders: headersOf(api, 'request'),
        responseHeaders: headersOf(api, 'response'),
        limits: api.limits,
        errors: api.errors,
        code: {
          id: 'sample',
          panel: 'samples',
          label: t('docs.start'),
          tabs: samples.map(({ id, name }) => ({
            id,
            label: name,
            path: `/docs?sample=${id}#start`,
            isCurrent: id === sample?.id,
          })),
          pieces: codePieces(sample?.code ?? ''),
        },
      };
    },
  };
}

/** Endpoints by format, in the order of their registration; those without a format last. */
function groupEndpoints({ endpoints }: DescribedApi) {
  const named = Object.groupBy(endpoints, ({ endpoint }) => endpoint.format?.name ?? '');
  return Object.entries(named)
    .toSorted(([a], [b]) => Number(a === '') - Number(b === ''))
    .map(([format, members = []]) => ({
      format,
      endpoints: members.map(({ endpoint, path, summary }) => ({ method: endpoint.method, path, summary })),
    }));
}

function headersOf({ headers }: DescribedApi, side: DescribedHeader['in']) {
  return headers.filter((header) => header.in === side);
}
