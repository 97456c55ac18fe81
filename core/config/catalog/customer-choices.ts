/**
 * Fields of requests by which a customer could choose what the operator's account at a vendor pays for, or is counted for. An
 * upstream takes them only if it allows them.
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
