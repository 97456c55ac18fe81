/** HTML that `renderMarkdown` made: all that the part `prose` prints unescaped. */
export class RenderedMarkdown {
  readonly #html: string;

  /** @param html by `renderMarkdown` alone */
  constructor(html: string) {
    this.#html = html;
  }

  /** Of anything else '', so that no other text gets on a page unescaped. */
  static htmlOf(value: unknown): string {
    return value instanceof RenderedMarkdown ? value.#html : '';
  }
}
