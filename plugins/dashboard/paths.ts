import { wellKnownPaths } from '#core/web/pages/paths.ts';

/** Pages to which other dashboard pages link. */
export const connectPath = wellKnownPaths.connect;
export const tryPath = '/dashboard/try';
export const requestPath = (id: string) => `/dashboard/requests/${encodeURIComponent(id)}`;
/** The page that sells plans. */
export const plansPath = '/buy';
