/** HTML from `renderMarkdown`: the only HTML that the part `prose` prints unescaped. */
export class RenderedMarkdown {
  readonly #html: string;

  /** @param html must come from `renderMarkdown` */
  constructor(html: string) {
    this.#html = html;
  }

  /** Returns the HTML; '' for anything else, so that no other text can reach a page unescaped. */
  static htmlOf(value: unknown): string {
    return value instanceof RenderedMarkdown ? value.#html : '';
  }
}
