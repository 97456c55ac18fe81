/**
 * Request fields with which a customer could choose what the operator's vendor account pays for, or how its usage is attributed. An
 * upstream receives them only if its configuration allows them.
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
