import type { ReadTimeline } from '#core/web/pages/account-timeline.ts';
import { createPermanentLink } from './document.ts';
import { listAcceptances } from './store.ts';

const maxAcceptances = 20;

export const readAcceptanceTimeline: ReadTimeline = async ({ host, t }, account) => {
  const records = await listAcceptances(host.database, { account }, maxAcceptances);
  return records.map(({ page, code, version, language, digest, address, acceptedAt }) => ({
    topic: 'money',
    at: acceptedAt,
    icon: 'info',
    title: t(`operator.story.accepted_${page}`),
    text: [
      code,
      ...(version === undefined ? [] : [t('acceptance.version', { version })]),
      t(`operator.acceptance_language.${language}`),
    ].join(', '),
    link: { path: createPermanentLink({ digest, address }), label: t('operator.acceptance_open') },
  }));
};
