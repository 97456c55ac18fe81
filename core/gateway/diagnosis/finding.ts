/** Result of one check of `daypass doctor`. */
export interface Finding {
  /** `warning`: works now but may soon fail, or could not be verified. `skipped`: nothing to check. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  /** The result in a few words, without secrets. */
  readonly text: string;
  /** Remedy for `warning` and `failed`, in one or two sentences. */
  readonly advice?: string;
}

export function ok(text: string): Finding {
  return { state: 'ok', text };
}

export function skipped(text: string): Finding {
  return { state: 'skipped', text };
}

export function warning(text: string, advice: string): Finding {
  return { state: 'warning', text, advice };
}

export function failed(text: string, advice: string): Finding {
  return { state: 'failed', text, advice };
}
