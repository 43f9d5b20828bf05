/** A stage of a container file: what the tests need to know of it. */
export interface Stage {
  readonly base: string;
  readonly copies: readonly Copy[];
  readonly healthCheck: readonly string[] | undefined;
  /** Every other instruction, as written: `USER node`. */
  readonly instructions: readonly string[];
}

interface Copy {
  /** The stage that it is copied from; absent for the folder that is built from. */
  readonly from: string | undefined;
  readonly source: readonly string[];
  readonly target: string;
}

/** Reads the stages of a container file. */
export function readStages(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const starts = lines.flatMap((line, at) => (line.startsWith('FROM ') ? [at] : []));
  return starts.map((start, nth) => readStage(lines.slice(start, starts[nth + 1])));
}

function readStage([first = '', ...rest]: readonly string[]): Stage {
  const check = rest.find((line) => line.startsWith('HEALTHCHECK '));
  const command: unknown = check && JSON.parse(check.slice(check.indexOf('CMD [') + 4));
  return {
    base: first.split(' ')[1] ?? '',
    copies: rest.filter((line) => line.startsWith('COPY ')).map(readCopy),
    healthCheck: Array.isArray(command) ? command.map(String) : undefined,
    instructions: rest,
  };
}

function readCopy(line: string): Copy {
  const words = line.split(' ').slice(1);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, source: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}
