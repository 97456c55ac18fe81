import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { answerAction, recordAction } from './actions.ts';
import { retention } from './job.ts';
import { answerMail } from './mail.ts';
import { pauseNotice } from './notice.ts';
import { ownPage } from './own-page.ts';
import { answeredPage, answerPage, recordPage, requestsPage } from './pages.ts';
import { openRequests } from './problem.ts';
import { dataRequests } from './resource.ts';
import { dataRequestsSection } from './section.ts';

/** Requests about personal data, their deadlines and answers. */
export const plugin: GatewayPlugin = {
  name: 'data-requests',
  register({ gateway }) {
    gateway.section(dataRequestsSection);
    gateway.tables({ name: 'data_request', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.mail(answerMail);
    gateway.notices(pauseNotice);
    gateway.problem(openRequests);
    gateway.job(retention);
    for (const page of [ownPage, requestsPage, recordPage, answeredPage, answerPage]) gateway.page(page);
    gateway.resource(dataRequests, {
      description: 'list data requests, record those that arrived by mail or chat, and answer them',
      actions: [recordAction, answerAction],
      examples: [
        'daypass data-request list --state open',
        'daypass data-request record --kind correction --channel mail --account ani@example.com --text "My name is Ani."',
        'daypass data-request answer REQUEST --outcome done --answer "Your name is corrected."',
      ],
    });
  },
};
