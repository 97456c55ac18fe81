export class ChatRequestError extends Error {
  override readonly name = 'ChatRequestError';
  readonly status: number;
  readonly param: string | null; // null if the error concerns no particular field

  constructor(message: string, param: string | null = null, status = 400) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

const errorTypes: Readonly<Record<number, { type: string; code: string }>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

/** Source: OpenAI API reference, "Error codes". */
export function createChatError(status: number, message: string, param: string | null = null): object {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message, type, param, code: null, ...errorTypes[status] } };
}
