// A question of the runner: what it wants to do, and the answer, which the reader gives here if the token allows it.
import { ConflictError } from "@framegate/client";
import { useId, useState } from "preact/hooks";
import type { ApprovalAnswer } from "../../../api/source";
import { Badge } from "../../../components/badge";
import { Icon } from "../../../components/icon";
import { Ago } from "../../../components/now";
import { messageOf } from "../../../components/states";
import { toast } from "../../../components/toast";
import { visible } from "../../../components/visible";
import type { Approval, Decision } from "../../../model/items";
import { type Question, questionsOf } from "../../../model/questions";
import { useConversing } from "../context";
import { ToolInput } from "./tool-input";

export interface ApprovalCardProps {
  approval: Approval;
  /** Whether no card of a tool call shows what it is about. */
  isAlone?: boolean;
}

export function ApprovalCard({ approval, isAlone = false }: ApprovalCardProps) {
  const { session, canAnswer } = useConversing();
  const isOver = session.conversation.end !== undefined;
  if (approval.decision !== undefined) return <Decided approval={approval} decision={approval.decision} />;
  const questions = questionsOf(approval.args);
  return (
    <section role="group" class="approval" aria-label={`Question about ${approval.toolName}`} data-approval={approval.approvalId}>
      <div class="item-head">
        <Icon name="question" />
        <span class="item-name">{questions.length > 0 ? "The runner asks" : `Allow ${visible(approval.toolName)}?`}</span>
        <span class="item-side small">
          <Ago at={approval.at} />
        </span>
      </div>
      {approval.reason && questions.length === 0 && <p class="approval-reason">{visible(approval.reason)}</p>}
      {isAlone && questions.length === 0 && <ToolInput name={approval.toolName} args={approval.args} />}
      {isOver ? (
        <p class="soft">The run ended before this was answered.</p>
      ) : canAnswer ? (
        <AnswerForm approval={approval} questions={questions} />
      ) : (
        <>
          {questions.map((question, index) => (
            <p key={index}>{visible(question.text)}</p>
          ))}
          <p class="soft">It waits for an answer. {session.status.value ? "Your token does not allow answers." : ""}</p>
        </>
      )}
    </section>
  );
}

const WORDS: Record<string, { text: string; tone: "ok" | "bad" | "warn" }> = {
  approved: { text: "Approved", tone: "ok" },
  rejected: { text: "Rejected", tone: "bad" },
  timed_out: { text: "Timed out", tone: "warn" },
  cancelled: { text: "Cancelled", tone: "warn" },
};

function Decided({ approval, decision }: { approval: Approval; decision: Decision }) {
  const known = Object.hasOwn(WORDS, decision.decision) ? WORDS[decision.decision] : undefined;
  const questions = questionsOf(approval.args);
  return (
    <div class="decided">
      {questions.length > 0 && <p class="decided-question">{visible(questions.map((question) => question.text).join(" — "))}</p>}
      <p>
        <Badge tone={known?.tone ?? "plain"}>{known?.text ?? visible(decision.decision)}</Badge>{" "}
        {questions.length === 0 && <span class="mono">{visible(approval.toolName)}</span>}
        {decision.scope && decision.scope !== "once" && <span class="soft"> for {decision.scope === "always" ? "always" : `the ${decision.scope}`}</span>}
        {decision.by && <span class="soft"> by {visible(decision.by)}</span>}
        {decision.reason && <span>: {visible(decision.reason)}</span>}
      </p>
    </div>
  );
}

type Scope = NonNullable<ApprovalAnswer["scope"]>;

function AnswerForm({ approval, questions }: { approval: Approval; questions: Question[] }) {
  const { source, session } = useConversing();
  const [isBusy, setBusy] = useState(false);
  const [isRejecting, setRejecting] = useState(false);
  const [reason, setReason] = useState("");
  const [scope, setScope] = useState<Scope>("once");
  const [answers, setAnswers] = useState<string[][]>(() => questions.map(() => []));
  const [problem, setProblem] = useState<string>();

  const send = async (answer: ApprovalAnswer) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await source.answer(session.runId, approval.approvalId, answer);
    } catch (error) {
      if (error instanceof ConflictError) toast("This question was answered already.");
      else setProblem(messageOf(error));
      setBusy(false);
    }
    session.refresh();
  };

  const approve = () => {
    if (questions.length === 0) return void send({ decision: "approved", ...(scope === "once" ? {} : { scope }) });
    const missing = questions.findIndex((question, index) => question.isRequired && (answers[index]?.length ?? 0) === 0);
    if (missing >= 0) return setProblem(`Answer “${questions[missing]?.header ?? questions[missing]?.text ?? missing + 1}” first.`);
    void send({ decision: "approved", answers });
  };

  const reject = (decision: "rejected" | "cancelled") => void send({ decision, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) });

  return (
    <form
      class="answer-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRejecting) reject("rejected");
        else approve();
      }}
    >
      {!isRejecting &&
        questions.map((question, index) => (
          <QuestionField
            key={index}
            question={question}
            value={answers[index] ?? []}
            onChange={(value) => setAnswers(answers.map((before, at) => (at === index ? value : before)))}
          />
        ))}
      {isRejecting && (
        <label class="field">
          <span>Reason, for the runner and its model (optional)</span>
          <input class="input" value={reason} autofocus onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="answer-buttons">
        {isRejecting ? (
          <>
            <button type="submit" class="button button-danger" disabled={isBusy}>
              Reject
            </button>
            <button type="button" class="button" disabled={isBusy} onClick={() => reject("cancelled")} title="Also ends the runner's current work">
              Reject and stop
            </button>
            <button type="button" class="button button-plain" disabled={isBusy} onClick={() => setRejecting(false)}>
              Back
            </button>
          </>
        ) : (
          <>
            <button type="submit" class="button button-primary" disabled={isBusy}>
              {isBusy ? "Sending…" : questions.length > 0 ? "Send the answer" : "Approve"}
            </button>
            {questions.length === 0 && (
              <label class="scope">
                <span class="visually-hidden">How far the approval reaches</span>
                <select class="input" value={scope} disabled={isBusy} onChange={(event) => setScope(event.currentTarget.value as Scope)}>
                  <option value="once">once</option>
                  <option value="session">for the session</option>
                  <option value="always">always</option>
                </select>
              </label>
            )}
            <button type="button" class="button" disabled={isBusy} onClick={() => setRejecting(true)}>
              {questions.length > 0 ? "Decline…" : "Reject…"}
            </button>
          </>
        )}
      </div>
    </form>
  );
}

interface QuestionFieldProps {
  question: Question;
  value: string[];
  onChange(value: string[]): void;
}

function QuestionField({ question, value, onChange }: QuestionFieldProps) {
  const id = useId();
  const [own, setOwn] = useState("");
  const values = question.choices.map((choice) => choice.value);
  const chosen = value.filter((one) => values.includes(one));
  const isOwn = value.some((one) => !values.includes(one));
  const toggle = (choice: string, isOn: boolean) => {
    if (!question.isMultiple) return onChange([choice]);
    onChange(isOn ? [...value, choice] : value.filter((one) => one !== choice));
  };
  const write = (words: string) => {
    setOwn(words);
    const kept = question.isMultiple ? chosen : [];
    onChange(words.trim() === "" ? kept : [...kept, words]);
  };
  const header = question.header !== undefined && question.header !== question.text ? question.header : undefined;
  if (question.choices.length === 0) {
    return (
      <label class="field question">
        <span>
          {header && <Badge>{visible(header)}</Badge>} {visible(question.text)} {!question.isRequired && <em class="faint">optional</em>}
        </span>
        {question.isSecret ? (
          <input class="input" type="password" autocomplete="off" value={own} onInput={(event) => write(event.currentTarget.value)} />
        ) : (
          <input
            class="input"
            type="text"
            inputMode={question.input === "number" ? "decimal" : "text"}
            autocomplete="off"
            value={own}
            onInput={(event) => write(event.currentTarget.value)}
          />
        )}
      </label>
    );
  }
  return (
    <fieldset class="question">
      <legend>
        {header && <Badge>{visible(header)}</Badge>} {visible(question.text)} {!question.isRequired && <em class="faint">optional</em>}
      </legend>
      {question.choices.map((choice) => (
        <label key={choice.value} class="choice">
          <input
            type={question.isMultiple ? "checkbox" : "radio"}
            name={id}
            checked={value.includes(choice.value)}
            onChange={(event) => toggle(choice.value, event.currentTarget.checked)}
          />
          <span>
            <span>{visible(choice.label)}</span>
            {choice.description && <span class="choice-about">{visible(choice.description)}</span>}
          </span>
        </label>
      ))}
      {question.takesText && (
        <label class="choice choice-own">
          <span class="visually-hidden">Another answer</span>
          <input class="input" type="text" autocomplete="off" placeholder="Another answer" value={isOwn ? own : ""} onInput={(event) => write(event.currentTarget.value)} />
        </label>
      )}
    </fieldset>
  );
}
