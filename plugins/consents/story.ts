import type { ReadStory, StoryEntry } from '#core/web/pages/account-story.ts';
import { readGiven } from './store.ts';

/** Consents that are shown, the newest. */
const listed = 20;

/** What an account has consented to and withdrawn, on the operators' page of it. */
export const readConsentStory: ReadStory = async ({ host, t, language }, account) => {
  const given = await readGiven(host.database, account, listed);
  return given.flatMap(({ name, label, place, givenAt, withdrawnAt }): StoryEntry[] => {
    const entry = { topic: 'access', icon: 'info', text: label[language] } as const;
    return [
      { ...entry, at: givenAt, title: t(`operator.story.consent_${place}`, { name }) },
      ...(withdrawnAt === undefined
        ? []
        : [{ ...entry, at: withdrawnAt, title: t('operator.story.consent_withdrawn', { name }) }]),
    ];
  });
};
