/**
 * Request fields that determine what the operator's vendor account pays for, or whom the vendor attributes usage to. Upstreams get them
 * only if their configuration lets customers choose.
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
