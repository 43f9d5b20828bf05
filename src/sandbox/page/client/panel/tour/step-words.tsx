import { insertCommand } from '../../state/panel-state.ts';

/** Words of a step; what stands between backticks is a command, and a press puts it into the composer. */
export function StepWords({ words }: { readonly words: string }) {
  return (
    <>
      {words.split('`').map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <button
            key={index}
            type="button"
            class="command"
            title="Put it into the composer"
            onClick={() => insertCommand(part)}
          >
            {part}
          </button>
        ),
      )}
    </>
  );
}
