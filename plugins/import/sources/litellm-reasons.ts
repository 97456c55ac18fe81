import type { Reasons } from '../members.ts';

/* Why settings of LiteLLM are not imported. */

const automaticReason = 'Daypass does this automatically';
const observabilityReason = 'logs, metrics and traces are set up under telemetry and at the operator listener';
const redisReason = 'set REDIS_URL in the environment instead';
const budgetReason = 'access is sold by the day here, without budgets';
const retryReason = 'circuit breakers and backup routes replace it; see the `upstream` stage for timeouts';

/** Reasons for members of model_list entries and their litellm_params. */
export const deploymentReasons: Reasons = {
  tpm: "tokens per minute are not limited here: an upstream's `capacity` counts requests",
  timeout: retryReason,
  stream_timeout: retryReason,
  max_retries: retryReason,
  num_retries: retryReason,
  cooldown_time: retryReason,
  api_version: 'the v1 API of Azure has no versions; the deployment name is the model name',
  temperature: 'Daypass adds no defaults to requests',
  top_p: 'Daypass adds no defaults to requests',
  max_tokens: 'Daypass adds no defaults to requests; `max_tokens` of a model reports the maximum to clients',
  drop_params: automaticReason,
  additional_drop_params: 'see `quirks.refuses` of a route',
  merge_reasoning_content_in_choices: automaticReason,
  input_cost_per_token: 'write it as `cost` of the upstream or route, per million tokens and with its currency',
  output_cost_per_token: 'write it as `cost` of the upstream or route, per million tokens and with its currency',
  tags: 'routes have no tags here',
  max_budget: budgetReason,
  budget_duration: budgetReason,
  mock_response: 'only the vendor "demo" makes up answers',
  aws_role_name: 'Daypass assumes no roles: use keys, or credentials from the environment',
  litellm_credential_name: 'credentials of credential_list are not read: write the key into the deployment',
  region_name: 'regions are not chosen by name here',
  allowed_openai_params: automaticReason,
  use_in_pass_through: '',
};

export const infoReasons: Reasons = {
  id: '',
  base_model: '',
  description: '',
  access_groups: 'every customer with paid days may use every model',
  health_check_model: '',
  disable_background_health_check: '',
  input_cost_per_token: deploymentReasons['input_cost_per_token'] ?? '',
  output_cost_per_token: deploymentReasons['output_cost_per_token'] ?? '',
  litellm_provider: '',
  created_at: '',
  created_by: '',
  db_model: '',
  team_id: 'there are no teams here',
};

export const routerReasons: Reasons = {
  routing_strategy: 'routes of the same priority share requests by weight and health',
  routing_strategy_args: 'routes of the same priority share requests by weight and health',
  context_window_fallbacks: 'set `max_input_tokens` on routes: longer prompts go to routes that take them',
  content_policy_fallbacks: 'refusals by a model are returned to the client',
  num_retries: retryReason,
  timeout: retryReason,
  stream_timeout: retryReason,
  max_retries: retryReason,
  retry_after: retryReason,
  retry_policy: retryReason,
  allowed_fails: retryReason,
  allowed_fails_policy: retryReason,
  cooldown_time: retryReason,
  disable_cooldowns: retryReason,
  enable_pre_call_checks: automaticReason,
  optional_pre_call_checks: automaticReason,
  redis_host: redisReason,
  redis_port: redisReason,
  redis_password: redisReason,
  redis_url: redisReason,
  cache_responses: 'see the `cache` stage of the pipeline',
  set_verbose: observabilityReason,
  debug_level: observabilityReason,
  provider_budget_config: budgetReason,
};

export const settingsReasons: Reasons = {
  ...routerReasons,
  drop_params: automaticReason,
  modify_params: automaticReason,
  request_timeout: retryReason,
  callbacks: observabilityReason,
  success_callback: observabilityReason,
  failure_callback: observabilityReason,
  service_callbacks: observabilityReason,
  turn_off_message_logging: 'contents of requests are not recorded here',
  redact_user_api_key_info: 'contents of requests are not recorded here',
  json_logs: observabilityReason,
  cache: 'see the `cache` stage of the pipeline',
  cache_params: 'see the `cache` stage of the pipeline',
  max_budget: budgetReason,
  budget_duration: budgetReason,
  max_internal_user_budget: budgetReason,
  internal_user_budget_duration: budgetReason,
  max_parallel_requests: 'see `concurrent` of the `rate-limit` stage',
  guardrails: 'there are no guardrails here',
  telemetry: '',
  default_internal_user_params: 'accounts are created when customers sign in',
  default_team_settings: 'there are no teams here',
  ssl_verify: 'certificates of upstreams are always verified',
};

export const generalReasons: Reasons = {
  master_key: 'operators have their own tokens (daypass operator-token), and each customer has a key',
  database_url: 'set DATABASE_URL in the environment to a separate database',
  store_model_in_db: 'models are only in gateway.yaml: export the models in the database as model_list first',
  max_parallel_requests: 'see `concurrent` of the `rate-limit` stage',
  global_max_parallel_requests: 'see `concurrent` of the `rate-limit` stage',
  alerting: 'see `alerts`',
  alerting_threshold: 'see `alerts`',
  alert_types: 'see `alerts`',
  pass_through_endpoints: 'only documented APIs are served',
  ui_access_mode: '',
  health_check_interval: 'see `probes`',
  background_health_checks: 'see `probes`',
  proxy_batch_write_at: '',
  proxy_budget_rescheduler_min_time: '',
  proxy_budget_rescheduler_max_time: '',
  disable_spend_logs: '',
};

export const rootReasons: Reasons = {
  environment_variables: 'set the ones that are still needed in .env next to gateway.yaml',
  include: 'import each of these files as well',
  credential_list: 'write the keys into the deployments that use them',
  guardrails: 'there are no guardrails here',
  mcp_servers: 'tools of MCP servers are not run here',
  vector_store_registry: 'there are no vector stores here',
  search_tools: 'there are no search tools here',
  callback_settings: observabilityReason,
};
