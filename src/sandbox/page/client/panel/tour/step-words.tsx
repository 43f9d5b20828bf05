import { insertCommand } from '../../state/panel-state.ts';

/** The words of a step. Text in backticks is a command; pressing it puts it into the composer. */
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
            title="Put this into the composer"
            onClick={() => insertCommand(part)}
          >
            {part}
          </button>
        ),
      )}
    </>
  );
}
