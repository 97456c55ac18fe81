import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';

/** Announcements of one answer. */
const pageSize = 100;

/** `GET /operator/api/announcements`. */
export const announcementsReading: OperatorReading = {
  path: '/announcements',
  summary: 'list announcements of operators, the newest first',
  query: {},
  async read({ database }) {
    const { listAnnouncements } = await import('./announcements.ts');
    return { announcements: await listAnnouncements(database, pageSize) };
  },
};
