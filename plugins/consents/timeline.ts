import type { ReadTimeline, TimelineEntry } from '#core/web/pages/account-timeline.ts';
import { readAllConsents } from './store.ts';

const maxListed = 20;

export const readConsentTimeline: ReadTimeline = async ({ host, t, language }, account) => {
  const consents = await readAllConsents(host.database, account, maxListed);
  return consents.flatMap(({ name, label, place, givenAt, withdrawnAt }): TimelineEntry[] => {
    const entry = { topic: 'access', icon: 'info', text: label[language] } as const;
    return [
      { ...entry, at: givenAt, title: t(`operator.story.consent_${place}`, { name }) },
      ...(withdrawnAt === undefined
        ? []
        : [{ ...entry, at: withdrawnAt, title: t('operator.story.consent_withdrawn', { name }) }]),
    ];
  });
};
