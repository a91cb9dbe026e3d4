dtmc

module coin
  s : [0..3] init 0;
  [] s = 0 -> 0.5 : (s' = 1) + 0.5 : (s' = 2);
  [] s = 1 -> 0.25 : (s' = 3) + 0.75 : (s' = 0);
  [] s >= 2 -> true;
endmodule

label "three" = s = 3;

rewards
  s < 2 : 1;
endrewards
