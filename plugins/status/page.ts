import type { Registry } from '#core/extension/registry.ts';
import { collectNotices } from '#core/web/pages/notices.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { describeStatus } from './describe-status.ts';
import { readServiceStatus } from './service-status.ts';

const intervalSeconds = 5;

export function createStatusPage(
  gateway: Pick<Registry, 'statusReports' | 'creditReader' | 'checkupReader' | 'noticeSources'>,
): Page {
  const describeContent = async (request: PageRequest) => {
    const { host, query } = request;
    const [status, notices] = await Promise.all([
      readServiceStatus(gateway, host, query['page']),
      collectNotices(gateway.noticeSources, request, host.now(), 'all'),
    ]);
    return { ...describeStatus(status, host.service.name, request), notices };
  };
  return {
    path: '/status',
    role: 'public',
    title: 'status.title',
    description: 'status.description',
    navigation: { label: 'status.navigation', icon: 'pulse', order: 40 },
    template: 'status/page.eta',
    styles: ['status/status.css'],
    show: async (request) => ({ ...(await describeContent(request)), refreshSeconds: 60 }),
    live: {
      topics: ['health'],
      everySeconds: intervalSeconds,
      parts: {
        'status-now': 'status/now.eta',
        'status-models': 'status/models.eta',
        'status-past': 'status/past.eta',
      },
      values: describeContent,
    },
  };
}
