import fc from 'fast-check';

/** Pieces that can break out of quotes: quotes of all languages, substitutions, line ends, comments, controls, other scripts. */
const pieces = [
  ...'az09"\'`\\$(){}[]#&|;<>*?!~=%:, \t\n\r‘’‚‛“”\u0000\u001b\u007f\u0085\u2028\ufeffé漢😀',
  '$(id)',
  '${HOME}',
  '"""',
  "'''",
];

export const nasty = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));
