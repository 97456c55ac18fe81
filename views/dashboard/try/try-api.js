// What the playground needs of the API: a token of this session, the call, and the events of a stream.
globalThis.playground = {};
{
  const { token: tokenPath } = document.getElementById('ask')?.dataset ?? {};
  let token;

  /** Made for ten minutes; another one is fetched a minute before. Kept in this variable alone. */
  async function readToken() {
    if (token !== undefined && Date.now() < token.until) return token.text;
    const response = await fetch(tokenPath, { method: 'POST', headers: { accept: 'application/json' } });
    if (!response.ok) throw { status: response.status };
    const { token: text, expires_in: seconds } = await response.json();
    token = { text, until: Date.now() + (seconds - 60) * 1000 };
    return text;
  }

  /** Without cookies: the token is the only credential. */
  async function post(path, body, signal) {
    const isForm = body instanceof FormData;
    return fetch(`/v1${path}`, {
      method: 'POST',
      credentials: 'omit',
      headers: {
        authorization: `Bearer ${await readToken()}`,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
      signal,
    });
  }

  globalThis.playground.api = {
    /** A token can end early, when the computer has slept for instance: one more is tried. @param body a FormData, or JSON */
    async call(path, body, signal) {
      const response = await post(path, body, signal);
      if (response.status !== 401) return response;
      token = undefined;
      return post(path, body, signal);
    },

    async refusalOf(response) {
      const reply = await response.json().catch(() => ({}));
      return {
        status: response.status,
        message: reply.error?.message ?? '',
        seconds: Math.max(1, Number.parseInt(response.headers.get('retry-after') ?? '1', 10) || 1),
        id: response.headers.get('x-request-id'),
      };
    },

    /** The data of server-sent events, parsed. */
    async *eventsOf(response) {
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (rest + value).split(/\r?\n/);
        rest = lines.pop();
        for (const line of lines) {
          if (line.startsWith('data:') && line.slice(5).trim() !== '[DONE]') yield JSON.parse(line.slice(5));
        }
      }
    },
  };
}
