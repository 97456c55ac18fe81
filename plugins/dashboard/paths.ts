import { wellKnownPaths } from '#core/web/pages/paths.ts';

export const connectPath = wellKnownPaths.connect;
export const tryPath = '/dashboard/try';
export const buildRequestPath = (id: string) => `/dashboard/requests/${encodeURIComponent(id)}`;
export const plansPath = '/buy';
