import { array, boolean, integer, object, string } from '#core/platform/schema.ts';

/* The settings in other plugins' sections that shop pages mention. If a plugin is missing, the defaults apply. */

export const backupSection = {
  name: 'backup',
  schema: object({ default: {} }, 'Backups.', { every: string({}), keep: integer({ default: 7 }) }),
} as const;

export const paymentsSection = {
  name: 'payments',
  schema: object({ default: {} }, 'Payments.', { provider: string({}), order_minutes: integer({ default: 30 }) }),
} as const;

export const signInSection = {
  name: 'sign_in',
  schema: { type: 'object', default: {}, additionalProperties: object({}, 'A provider.', { client_id: string({}) }) },
} as const;

export const consentsSection = {
  name: 'consents',
  schema: {
    type: 'object',
    default: {},
    additionalProperties: object(['label'], { label: object(['en', 'id'], { en: string({}), id: string({}) }) }),
  },
} as const;

export const dataRequestsSection = {
  name: 'data_requests',
  schema: object({ default: {} }, 'Requests about data.', {
    enabled: boolean({ default: false }),
    answer_hours: integer({ default: 72 }),
    keep_years: integer({ default: 5 }),
  }),
} as const;

export const sellerSection = {
  name: 'seller',
  schema: object({ default: {} }, 'The seller.', {
    name: string({}),
    address: string({}),
    registrations: array({ items: string({}), default: [] }),
    keep_years: integer({ default: 10 }),
    tax: {}, // `none`, one tax, or several that each have a start day
  }),
} as const;
