import type { Dialect } from '#core/catalog/formats.ts';

const openaiTypes: Readonly<Record<number, { type: string; code: string | null }>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { type: 'permission_error', code: null },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  501: 'not_supported',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The error object of a dialect. Sources: OpenAI API reference, "Error codes"; Anthropic API reference, "Errors". */
export function errorBody(dialect: Dialect, status: number, message: string, param: string | null = null): object {
  const isServerFault = status >= 500;
  if (dialect === 'anthropic') {
    const type = anthropicTypes[status] ?? (isServerFault ? 'api_error' : 'invalid_request_error');
    return { type: 'error', error: { type, message }, request_id: null };
  }
  const { type, code } = openaiTypes[status] ?? {
    type: isServerFault ? 'server_error' : 'invalid_request_error',
    code: null,
  };
  return { error: { message, type, param, code } };
}
