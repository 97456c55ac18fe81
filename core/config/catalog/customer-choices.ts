/**
 * Request fields that select what the operator's vendor account pays for, or how its usage is attributed. An upstream receives them only if
 * its configuration allows customers to choose them.
 */
export const customerChoices = [
  'billing_policy',
  'user_profile_id',
  'workspace_id',
  'speed',
  'service_tier',
  'inference_geo',
] as const;

export type CustomerChoice = (typeof customerChoices)[number];
