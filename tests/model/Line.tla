-------------------------------- MODULE Line --------------------------------
(* The line of changes to one attribute: several gateways on one ledger, AWS, a reconciler that reads back, and crashes at any moment.
   A transaction of the ledger is one step, because its write lock makes it one. A paused gateway is one whose step does not come. *)
EXTENDS Naturals, FiniteSets

CONSTANTS Gateways, Mutations,
          Needing,      \* the mutations that need the one approval
          Bug           \* a planted bug, so that the check is seen to fail; "none" is the line as it is

None == "none"
Free == "free"

VARIABLES
  state,     \* of each mutation in the ledger: none, in_flight, in_doubt, applied, failed
  owner,     \* the gateway that is to send it
  holder,    \* the mutation whose claim on the attribute stands
  approved,  \* the mutation that used the approval
  lease,     \* whether the ledger has a current lease of the gateway
  up,        \* whether the gateway's process lives
  doing,     \* the mutation at the gateway
  step,      \* of the gateway: idle, decided, committed, sent, answered
  signed,    \* whether AWS still accepts the mutation's request by its signature
  wire,      \* whether the mutation's request is on its way
  carried    \* how often AWS carried the mutation out

vars == <<state, owner, holder, approved, lease, up, doing, step, signed, wire, carried>>

Open == {"in_flight", "in_doubt"}

Init ==
  /\ state = [m \in Mutations |-> None]
  /\ owner = [m \in Mutations |-> None]
  /\ holder = Free
  /\ approved = Free
  /\ lease = [g \in Gateways |-> TRUE]
  /\ up = [g \in Gateways |-> TRUE]
  /\ doing = [g \in Gateways |-> None]
  /\ step = [g \in Gateways |-> "idle"]
  /\ signed = [m \in Mutations |-> FALSE]
  /\ wire = [m \in Mutations |-> FALSE]
  /\ carried = [m \in Mutations |-> 0]

(* A client asks, also again with the same key, also at another gateway. What the ledger has an attempt of is answered from it. *)
Decide(g, m) ==
  /\ up[g] /\ step[g] = "idle"
  /\ IF Bug = "sent again" THEN state[m] \in {None, "in_doubt"} ELSE state[m] = None
  /\ \A other \in Gateways : doing[other] # m   \* the same request is at one gateway; the unique key is checked again in Commit
  /\ doing' = [doing EXCEPT ![g] = m]
  /\ step' = [step EXCEPT ![g] = "decided"]
  /\ signed' = [signed EXCEPT ![m] = TRUE]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, wire, carried>>

(* DECIDED with claim, attempt and approval, in one transaction. The unique index on open claims decides. *)
Commit(g) ==
  LET m == doing[g] IN
  /\ up[g] /\ step[g] = "decided"
  /\ IF Bug = "sent again" THEN TRUE ELSE state[m] = None
  /\ IF holder = Free \/ Bug \in {"no unique index", "sent again"} THEN TRUE ELSE state[holder] \notin Open
  /\ IF m \in Needing /\ Bug # "approval not spent" THEN approved = Free ELSE TRUE
  /\ state' = [state EXCEPT ![m] = "in_flight"]
  /\ owner' = [owner EXCEPT ![m] = g]
  /\ holder' = m
  /\ approved' = IF m \in Needing THEN m ELSE approved
  /\ step' = [step EXCEPT ![g] = "committed"]
  /\ UNCHANGED <<lease, up, doing, signed, wire, carried>>

(* Somebody else took the attribute, the key or the approval first: the caller is told, and nothing is sent. *)
Refuse(g) ==
  /\ up[g] /\ step[g] = "decided"
  /\ doing' = [doing EXCEPT ![g] = None]
  /\ step' = [step EXCEPT ![g] = "idle"]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, signed, wire, carried>>

Send(g) ==
  LET m == doing[g] IN
  /\ up[g]
  /\ step[g] = "committed" \/ (step[g] = "decided" /\ Bug = "sent before stored")
  /\ wire' = [wire EXCEPT ![m] = TRUE]
  /\ step' = [step EXCEPT ![g] = "sent"]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, doing, signed, carried>>

(* AWS carries out what arrives while its signature is valid; what comes later it refuses. *)
Arrive(m) ==
  /\ wire[m]
  /\ wire' = [wire EXCEPT ![m] = FALSE]
  /\ carried' = [carried EXCEPT ![m] = IF signed[m] THEN @ + 1 ELSE @]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, doing, step, signed>>

(* A request is lost on its way: the half of it, or a connection that was cut. *)
Lose(m) ==
  /\ wire[m]
  /\ wire' = [wire EXCEPT ![m] = FALSE]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, doing, step, signed, carried>>

Expire(m) ==
  /\ signed[m]
  /\ signed' = [signed EXCEPT ![m] = FALSE]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, doing, step, wire, carried>>

(* The gateway has AWS's whole answer. *)
Answer(g) ==
  LET m == doing[g] IN
  /\ up[g] /\ step[g] = "sent" /\ ~wire[m] /\ carried[m] > 0
  /\ step' = [step EXCEPT ![g] = "answered"]
  /\ UNCHANGED <<state, owner, holder, approved, lease, up, doing, signed, wire, carried>>

(* SETTLED. Also a gateway whose mutation was marked as in doubt meanwhile records what it knows; what is settled already stays. *)
Settle(g) ==
  LET m == doing[g] IN
  /\ up[g] /\ step[g] = "answered"
  /\ state' = [state EXCEPT ![m] = IF @ \in Open THEN "applied" ELSE @]
  /\ doing' = [doing EXCEPT ![g] = None]
  /\ step' = [step EXCEPT ![g] = "idle"]
  /\ UNCHANGED <<owner, holder, approved, lease, up, signed, wire, carried>>

(* No answer came, or one that proves nothing. *)
Doubt(g) ==
  LET m == doing[g] IN
  /\ up[g] /\ step[g] = "sent"
  /\ state' = [state EXCEPT ![m] = IF @ = "in_flight" THEN "in_doubt" ELSE @]
  /\ holder' = IF Bug = "free in doubt" THEN Free ELSE holder
  /\ doing' = [doing EXCEPT ![g] = None]
  /\ step' = [step EXCEPT ![g] = "idle"]
  /\ UNCHANGED <<owner, approved, lease, up, signed, wire, carried>>

(* Nothing was sent: AWS was not reached, or the request had grown old before it was sent. *)
NotSent(g) ==
  LET m == doing[g] IN
  /\ up[g] /\ step[g] = "committed"
  /\ state' = [state EXCEPT ![m] = IF @ \in Open THEN "failed" ELSE @]
  /\ holder' = IF holder = m THEN Free ELSE holder
  /\ doing' = [doing EXCEPT ![g] = None]
  /\ step' = [step EXCEPT ![g] = "idle"]
  /\ UNCHANGED <<owner, approved, lease, up, signed, wire, carried>>

Crash(g) ==
  /\ up[g]
  /\ up' = [up EXCEPT ![g] = FALSE]
  /\ doing' = [doing EXCEPT ![g] = None]
  /\ step' = [step EXCEPT ![g] = "idle"]
  /\ UNCHANGED <<state, owner, holder, approved, lease, signed, wire, carried>>

(* A process that starts again is a new gateway to the ledger: its old lease is not renewed, and what it left is not its own.
   To keep the model finite it gets its name again only when nothing open is left under it. *)
Restart(g) ==
  /\ ~up[g]
  /\ \A m \in Mutations : owner[m] = g => state[m] # "in_flight"
  /\ up' = [up EXCEPT ![g] = TRUE]
  /\ lease' = [lease EXCEPT ![g] = TRUE]
  /\ UNCHANGED <<state, owner, holder, approved, doing, step, signed, wire, carried>>

(* A lease runs out whenever its gateway does not renew it in time: it is dead, or paused. *)
LeaseEnds(g) ==
  /\ lease[g]
  /\ lease' = [lease EXCEPT ![g] = FALSE]
  /\ UNCHANGED <<state, owner, holder, approved, up, doing, step, signed, wire, carried>>

Renew(g) ==
  /\ up[g] /\ ~lease[g]
  /\ lease' = [lease EXCEPT ![g] = TRUE]
  /\ UNCHANGED <<state, owner, holder, approved, up, doing, step, signed, wire, carried>>

(* Any process on the ledger marks as in doubt what a gateway without a lease left in flight. *)
Recover(m) ==
  /\ IF state[m] = "in_flight" THEN ~lease[owner[m]] ELSE FALSE
  /\ state' = [state EXCEPT ![m] = "in_doubt"]
  /\ holder' = IF Bug = "free in doubt" THEN Free ELSE holder
  /\ UNCHANGED <<owner, approved, lease, up, doing, step, signed, wire, carried>>

(* The reconciler looks at what is live. That it was not carried out is concluded only once AWS accepts the request no more. *)
ReadBack(m) ==
  /\ state[m] = "in_doubt"
  /\ \/ carried[m] > 0
     \/ ~signed[m]
     \/ Bug = "absent at once"
  /\ state' = [state EXCEPT ![m] = IF carried[m] > 0 THEN "applied" ELSE "failed"]
  /\ holder' = IF carried[m] = 0 /\ holder = m THEN Free ELSE holder
  /\ UNCHANGED <<owner, approved, lease, up, doing, step, signed, wire, carried>>

Next ==
  \/ \E g \in Gateways, m \in Mutations : Decide(g, m)
  \/ \E g \in Gateways :
       \/ Commit(g) \/ Refuse(g) \/ Send(g) \/ Answer(g) \/ Settle(g) \/ Doubt(g) \/ NotSent(g)
       \/ Crash(g) \/ Restart(g) \/ LeaseEnds(g) \/ Renew(g)
  \/ \E m \in Mutations : Arrive(m) \/ Lose(m) \/ Expire(m) \/ Recover(m) \/ ReadBack(m)

(* What is due happens at last: the reconciler lives, time passes, and the lease of a gateway that is not there runs out. *)
Fairness ==
  /\ \A m \in Mutations : WF_vars(Recover(m)) /\ WF_vars(ReadBack(m)) /\ WF_vars(Expire(m)) /\ WF_vars(Arrive(m) \/ Lose(m))
  /\ \A g \in Gateways : /\ WF_vars(~up[g] /\ LeaseEnds(g))
                         /\ WF_vars(Send(g) \/ NotSent(g)) /\ WF_vars(Answer(g) \/ Doubt(g)) /\ WF_vars(Settle(g))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* The invariants, by the names of the specification of failures and of the tests. *)

TypeOK ==
  /\ state \in [Mutations -> {None, "applied", "failed"} \union Open]
  /\ step \in [Gateways -> {"idle", "decided", "committed", "sent", "answered"}]

NothingUnlogged == \A m \in Mutations : carried[m] > 0 => state[m] # None
AppliedAtMostOnce == \A m \in Mutations : carried[m] <= 1
OneWinner == Cardinality({m \in Mutations : state[m] \in Open}) <= 1
DoubtHoldsItsClaim == \A m \in Mutations : state[m] \in Open => holder = m
RecordIsTrue == \A m \in Mutations :
  /\ state[m] = "applied" => carried[m] = 1
  /\ state[m] = "failed" => carried[m] = 0
ApprovedOnce == \A m \in Mutations : m \in Needing /\ state[m] # None => approved = m

NothingLost == \A m \in Mutations : state[m] \in Open ~> state[m] \in {"applied", "failed"}
=============================================================================
