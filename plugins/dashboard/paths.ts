import { wellKnownPaths } from '#core/web/pages/paths.ts';

/** Pages that others of the dashboard lead to. */
export const connectPath = wellKnownPaths.connect;
export const tryPath = '/dashboard/try';
export const requestPath = (id: string) => `/dashboard/requests/${encodeURIComponent(id)}`;
/** Where plans are sold. */
export const plansPath = '/buy';
