import { wellKnownPaths } from '#core/web/pages/paths.ts';

/** Paths of pages that other dashboard pages link to. */
export const connectPath = wellKnownPaths.connect;
export const tryPath = '/dashboard/try';
export const buildRequestPath = (id: string) => `/dashboard/requests/${encodeURIComponent(id)}`;
/** The page that sells plans. */
export const plansPath = '/buy';
